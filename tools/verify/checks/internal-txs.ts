import { NodeError } from '../../../services/common/chain/endpoints.js';
import { fetchTraces, methodNotFound } from '../../../services/common/chain/evm.js';
import { differencesOf, type HeightCheck, type Sides } from '../check.js';

interface Frame {
  readonly calls?: readonly Frame[];
}

/** Internal txs: how many call frames each EVM tx of the block has. */
export const internalTxs: HeightCheck = {
  name: 'internal txs',
  appliesTo: ({ vm_type, json_rpc, internal_tx_height }) =>
    vm_type === 'evm' && json_rpc.urls.length > 0 && internal_tx_height > 0,
  async run(sides, height) {
    if (height > sides.internal_tx_height) return { compared: 0, differences: [] };
    const traces = await tracesOf(sides, height);
    if (traces === undefined) return { compared: 0, differences: [] };
    const ours = await sides.api.list<{ hash: string }>(
      `/indexer/tx/v1/evm-internal-txs/by_height/${height}`,
      'internal_txs',
    );
    const counts = new Map<string, [index: number, node: number]>();
    for (const { txHash, result } of traces) counts.set(txHash, [0, framesIn(result)]);
    for (const { hash } of ours) {
      const count = counts.get(hash) ?? [0, 0];
      counts.set(hash, [count[0] + 1, count[1]]);
    }
    return {
      compared: [...counts.values()].reduce((sum, [, node]) => sum + node, 0),
      differences: [...counts].flatMap(([hash, frames]) =>
        differencesOf(`internal txs of ${hash}`, { 'number of call frames': frames }),
      ),
    };
  },
};

const framesIn = (frame: Frame): number =>
  1 + (frame.calls ?? []).reduce((sum, call) => sum + framesIn(call), 0);

/** The traces of a block; undefined where the node does not trace. */
async function tracesOf(
  { json_rpc, signal }: Sides,
  height: number,
): Promise<{ txHash: string; result: Frame }[] | undefined> {
  try {
    return JSON.parse((await fetchTraces(json_rpc, height, signal)).text) as {
      txHash: string;
      result: Frame;
    }[];
  } catch (error) {
    const said = error instanceof NodeError ? error.answer : undefined;
    // Block 1 cannot be traced; it has no txs.
    if (said !== undefined && /genesis is not traceable/.test(said.message)) return [];
    if (said?.code === methodNotFound) return undefined;
    throw error;
  }
}
