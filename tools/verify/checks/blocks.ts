import { fetchCometBlock, fetchCometResults } from '../../../services/common/chain/comet.js';
import { toUtc } from '../../../services/common/util/time.js';
import { differencesOf, type HeightCheck } from '../check.js';
import { parseResult } from '../result.js';

interface Block {
  readonly chain_id: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly gas_used: string;
  readonly gas_wanted: string;
  readonly tx_count: string;
}

/** Headers: chain, hash, time, number of txs, gas. */
export const blocks: HeightCheck = {
  name: 'blocks',
  appliesTo: () => true,
  async run({ api, rpc, signal }, height) {
    const what = `block ${height}`;
    const [answer, block, results] = await Promise.all([
      api.get<{ block: Block }>(`/indexer/block/v1/blocks/${height}`),
      fetchCometBlock(rpc, height, '', signal),
      fetchCometResults(rpc, height, signal),
    ]);
    const sum = (member: 'gas_used' | 'gas_wanted'): string =>
      String(results.txs_results.reduce((total, text) => total + BigInt(parseResult(text)[member] ?? 0), 0n));
    const ours = answer?.block;
    if (ours === undefined)
      return { compared: 1, differences: differencesOf(what, { hash: [undefined, block.hash] }) };
    return {
      compared: 1,
      differences: differencesOf(what, {
        chain_id: [ours.chain_id, block.chain_id],
        hash: [ours.hash, block.hash],
        timestamp: [ours.timestamp, toUtc(block.time)],
        tx_count: [ours.tx_count, String(block.txs.length)],
        gas_used: [ours.gas_used, sum('gas_used')],
        gas_wanted: [ours.gas_wanted, sum('gas_wanted')],
      }),
    };
  },
};
