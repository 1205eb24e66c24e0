import { createHash } from 'node:crypto';
import { fetchCometBlock, fetchCometResults } from '../../../services/common/chain/comet.js';
import { compareNames, type Difference, differencesOf, type HeightCheck } from '../check.js';
import { parseResult, type Result } from '../result.js';

interface Tx {
  readonly txhash: string;
  readonly height: string;
  readonly code: number;
  readonly codespace: string;
  readonly data: string;
  readonly gas_used: string;
  readonly gas_wanted: string;
  readonly events: readonly unknown[];
}

/** Cosmos txs: which are in the block, in which order, how each ended, and whether its hash leads to it. */
export const txs: HeightCheck = {
  name: 'txs',
  appliesTo: () => true,
  async run({ api, rpc, signal }, height) {
    const [ours, block, results] = await Promise.all([
      api.list<Tx>(`/indexer/tx/v1/txs/by_height/${height}`, 'txs'),
      fetchCometBlock(rpc, height, '', signal),
      fetchCometResults(rpc, height, signal),
    ]);
    const hashes = block.txs.map((raw) => createHash('sha256').update(raw).digest('hex').toUpperCase());
    const differences: Difference[] = compareNames(
      `txs of block ${height}`,
      'hash',
      ours.map(({ txhash }) => txhash),
      hashes,
    );
    const byHash = new Map(ours.map((tx) => [tx.txhash, tx]));
    for (const [index, hash] of hashes.entries()) {
      const [tx, result] = [byHash.get(hash), results.txs_results[index]];
      if (tx !== undefined && result !== undefined)
        differences.push(...compareTx(height, tx, parseResult(result)));
      const found = await api.get<{ tx: Tx }>(`/indexer/tx/v1/txs/${hash}`);
      // The same bytes can be in a later block again: the newest counts there.
      if (found === undefined || Number(found.tx.height) < height)
        differences.push(
          ...differencesOf(`tx ${hash}`, { 'found by its hash': [found?.tx.height, String(height)] }),
        );
    }
    return { compared: hashes.length, differences };
  },
};

function compareTx(height: number, tx: Tx, result: Result): Difference[] {
  return differencesOf(`tx ${tx.txhash}`, {
    height: [tx.height, String(height)],
    code: [tx.code, result.code],
    codespace: [tx.codespace, result.codespace ?? ''],
    data: [
      tx.data,
      Buffer.from(result.data ?? '', 'base64')
        .toString('hex')
        .toUpperCase(),
    ],
    gas_used: [tx.gas_used, result.gas_used ?? '0'],
    gas_wanted: [tx.gas_wanted, result.gas_wanted ?? '0'],
    'number of events': [tx.events.length, result.events?.length ?? 0],
  });
}
