import { createHash } from 'node:crypto';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { createLog } from '../../services/common/log.js';
import { createFence } from '../../services/common/writer/fence.js';
import { prepareWriters } from '../../services/common/writer/writers.js';
import type { NftBlock } from '../../services/nft/decode/types.js';
import { everyNftList } from './nft-lists.js';
import { modelOf, randomNfts } from './nft-model.js';
import { migrateNft, openNft } from './nft-tables.js';

/*
 * A process that writes a chain of NFT blocks into a folder, rolls two of them back, learns
 * details, and kills itself at the n-th point between two writes; without a kill it prints a
 * digest of every list. Arguments: folder, seed, n (-1 for no kill).
 */
const [folder = '', seed = '1', killAt = '-1'] = process.argv.slice(2);
const [height, batch, prefix] = [12, 4, 'crash'];

const chain = randomNfts(Number(seed));
const blocks: NftBlock[] = [];
while (blocks.length < height) blocks.push(chain.next(blocks.at(-1)));

let left = Number(killAt);
const database = await openEmbedded(folder);
await migrateNft(database, prefix);
const target = { database: `${prefix}_nft`, cluster: '' };
await prepareWriters(database, target, 'apply');
const fence = createFence({
  ...{ database, target, scope: '', what: 'the NFTs', lease_ms: 1_000, log: createLog('silent') },
  onSuperseded: () => {},
});
await fence.acquire(new AbortController().signal);
const tables = await openNft(database, prefix, {
  writer: fence.over(database),
  fault() {
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    left -= 1;
  },
});
const { store } = tables;
await store.recover();
while (store.position.height < height) {
  const from = store.position.height;
  await store.writeBlocks(blocks.slice(from, from + batch));
  await tables.learn();
}
await store.unwind(height - 2);
await store.writeBlocks(blocks.slice(height - 2));
await tables.learn();
const digest = createHash('sha256');
for (const list of everyNftList(tables, modelOf(blocks))) {
  const request = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };
  const { items, pagination } = await list.read(request);
  digest.update(`${list.name} ${pagination.total} ${JSON.stringify(items)}\n`);
}
await database.close();
process.stdout.write(digest.digest('hex'));
