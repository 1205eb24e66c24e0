import { createEndpoints, type EndpointOptions, type Endpoints } from '../../common/chain/endpoints.js';
import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
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

/** Waits and looks at the time; tests have their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export const systemClock: Clock = { now: Date.now, sleep };

/** What the L1 says now, or why that could not be read. */
export type L1Look = L1Stage | { readonly error: string };

/** The L1 as the operator sees it. */
export interface L1Client {
  /**
   * Looks at stage and time. Both come from one and the same node, the one whose time is the latest.
   * Never throws: that the L1 cannot be read is part of what is observed.
   */
  look(signal?: AbortSignal): Promise<L1Look>;
  /** The registration of a rollup that is in force; undefined when there is none. @throws NodeError */
  registration(bridge_id: bigint, signal?: AbortSignal): Promise<BridgeInfo | undefined>;
  /**
   * When a stage was, of which the L1 still knows; undefined when every node says that it does not know it.
   *
   * @throws NodeError while no node has said when it was, and not every node has answered.
   */
  stageTimes(stage: bigint, signal?: AbortSignal): Promise<StageTimes | undefined>;
  /** What the L1 has of a stage that is over: for the checks that are kept. @throws NodeError */
  submitted(
    info: BridgeInfo,
    stage: bigint,
    signal?: AbortSignal,
  ): Promise<{ readonly last_submitted_stage: bigint; readonly total_l2_scores: bigint | undefined }>;
  close(): Promise<void>;
}

export interface L1Options extends EndpointOptions {
  readonly urls: readonly string[];
  readonly module: L1Module;
  /** Chain id that the L1 must have; empty for any. */
  readonly chain_id: string;
  /** After so long without a newer block the L1's time counts as standing still. Milliseconds. */
  readonly standstill_ms: number;
  /** How often the first look asks again until it has seen the time move. Milliseconds. */
  readonly again_ms: number;
  readonly clock?: Clock;
}

/** Makes a client; nothing is sent yet. */
export function createL1Client(options: L1Options): L1Client {
  const { module, clock = systemClock } = options;
  const nodes = options.urls.map((url) => createEndpoints('rest', [url], options));
  let isSeen = false;
  /** The latest time heard of, and when (by this machine's clock) it was first heard. */
  let latest: { readonly time: number; readonly heard_at: number } | undefined;
  let isMoving = false;

  const lookAt = async (node: Endpoints, signal?: AbortSignal): Promise<Omit<L1Stage, 'is_moving'>> => {
    // The time first: a stage that is read later is never older than the time says.
    const block = await fetchL1Block(node, { signal });
    if (options.chain_id !== '' && block.chain_id !== options.chain_id)
      throw new Error(`${hostOf(node)} is a node of ${block.chain_id}, not of ${options.chain_id}`);
    return { ...(await fetchL1Stage(node, module, { signal })), l1_time: block.time };
  };

  /** The node with the latest time; the others are asked only when the first fails or lags. */
  const lookOnce = async (signal?: AbortSignal): Promise<Omit<L1Stage, 'is_moving'>> => {
    const errors: string[] = [];
    let best: Omit<L1Stage, 'is_moving'> | undefined;
    for (const node of nodes) {
      try {
        const seen = await lookAt(node, signal);
        if (best === undefined || seen.l1_time > best.l1_time) best = seen;
        if (latest === undefined || seen.l1_time > latest.time) break;
      } catch (error) {
        errors.push(messageOf(error));
      }
    }
    if (best === undefined) throw new Error(errors.join('; ') || 'no L1 URL is configured');
    if (latest !== undefined && best.l1_time < latest.time)
      throw new Error(`the L1 answers for an older block: its time is ${best.l1_time} after ${latest.time}`);
    return best;
  };

  const note = (time: number): void => {
    const now = clock.now();
    if (latest === undefined) latest = { time, heard_at: now };
    else if (time > latest.time) {
      latest = { time, heard_at: now };
      isMoving = true;
    } else if (now - latest.heard_at > options.standstill_ms) isMoving = false;
  };

  return {
    async look(signal) {
      try {
        let seen = await lookOnce(signal);
        note(seen.l1_time);
        // One look cannot tell whether time moves: a job that runs once looks until it has seen it.
        const end = clock.now() + options.standstill_ms;
        while (!isSeen && !isMoving && clock.now() < end && !signal?.aborted) {
          await clock.sleep(options.again_ms, signal);
          seen = await lookOnce(signal);
          note(seen.l1_time);
        }
        isSeen = true;
        return { ...seen, is_moving: isMoving };
      } catch (error) {
        return { error: messageOf(error) };
      }
    },
    async registration(bridge_id, signal) {
      return registrationOf(
        await first(nodes, (node) => fetchBridgeInfos(node, module, { signal })),
        bridge_id,
      );
    },
    stageTimes: (stage, signal) =>
      firstKnown(nodes, (node) => fetchStageTimes(node, module, stage, { signal })),
    submitted: (info, stage, signal) =>
      first(nodes, async (node) => {
        const last_submitted_stage = await fetchLastSubmittedStage(node, module, info, { signal });
        const isThere = last_submitted_stage >= stage;
        const total_l2_scores = isThere
          ? await fetchTotalL2Scores(node, module, stage, { signal })
          : undefined;
        return { last_submitted_stage, total_l2_scores };
      }),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}

const hostOf = (node: Endpoints): string => new URL(node.urls[0] ?? '').host;

/** The first answer that a node gives. */
async function first<T>(nodes: readonly Endpoints[], ask: (node: Endpoints) => Promise<T>): Promise<T> {
  let last: unknown = new Error('no L1 URL is configured');
  for (const node of nodes) {
    try {
      return await ask(node);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** The first answer other than undefined; undefined only when every node has answered so. */
async function firstKnown<T>(
  nodes: readonly Endpoints[],
  ask: (node: Endpoints) => Promise<T | undefined>,
): Promise<T | undefined> {
  const errors: unknown[] = [];
  for (const node of nodes) {
    try {
      const answer = await ask(node);
      if (answer !== undefined) return answer;
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return undefined;
}
