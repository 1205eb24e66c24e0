import { createEndpoints, type EndpointOptions } from '../../common/chain/endpoints.js';
import type { StageTimes } from '../machine/times.js';
import type { L1Stage } from '../machine/types.js';
import { fetchL1Block, fetchL1Stage, type L1Module } from './stage.js';
import {
  type BridgeInfo,
  fetchBridgeInfos,
  fetchLastSubmittedStage,
  fetchStageTimes,
  fetchTotalL2Scores,
  registrationOf,
} from './views.js';

/** What one node of the L1 says of stage and time. */
export type NodeLook = Omit<L1Stage, 'is_moving'>;

/** What the L1 has of a stage that is over. */
export interface Submitted {
  readonly last_submitted_stage: bigint;
  readonly total_l2_scores: bigint | undefined;
}

/** One node of the L1, each by itself: what it says is compared with what the others say. Its methods throw NodeError. */
export interface L1Node {
  readonly host: string;
  look(signal?: AbortSignal): Promise<NodeLook>;
  registration(bridge_id: bigint, signal?: AbortSignal): Promise<BridgeInfo | undefined>;
  stageTimes(stage: bigint, signal?: AbortSignal): Promise<StageTimes | undefined>;
  submitted(info: BridgeInfo, stage: bigint, signal?: AbortSignal): Promise<Submitted>;
  close(): Promise<void>;
}

/** What a node is asked with. */
export interface L1NodeOptions extends EndpointOptions {
  readonly module: L1Module;
  /** Chain id that the L1 must have; empty for any. */
  readonly chain_id: string;
}

/** Makes the node of a URL; nothing is sent yet. */
export function createL1Node(url: string, options: L1NodeOptions): L1Node {
  const { module, chain_id } = options;
  const node = createEndpoints('rest', [url], options);
  const { host } = new URL(url);
  return {
    host,
    async look(signal) {
      // The time first: a stage that is read later is never older than the time says.
      const block = await fetchL1Block(node, { signal });
      if (chain_id !== '' && block.chain_id !== chain_id)
        throw new Error(`${host} is a node of ${block.chain_id}, not of ${chain_id}`);
      return { ...(await fetchL1Stage(node, module, { signal })), l1_time: block.time };
    },
    registration: async (bridge_id, signal) =>
      registrationOf(await fetchBridgeInfos(node, module, { signal }), bridge_id),
    stageTimes: (stage, signal) => fetchStageTimes(node, module, stage, { signal }),
    async submitted(info, stage, signal) {
      const last_submitted_stage = await fetchLastSubmittedStage(node, module, info, { signal });
      const isThere = last_submitted_stage >= stage;
      const total_l2_scores = isThere ? await fetchTotalL2Scores(node, module, stage, { signal }) : undefined;
      return { last_submitted_stage, total_l2_scores };
    },
    close: () => node.close(),
  };
}
