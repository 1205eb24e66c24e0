import { createHash } from 'node:crypto';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { everyList } from './tx-lists.js';
import { type ModelBlock, randomChain, traceOf } from './tx-model.js';
import { migrateTx, openTx } from './tx-tables.js';

/*
 * A process that writes a chain of blocks into a folder and kills itself at the n-th point
 * between two writes; without a kill it prints a digest of every list.
 * Arguments: folder, seed, n (-1 for no kill).
 */
const [folder = '', seed = '1', killAt = '-1'] = process.argv.slice(2);
const [height, batch, prefix] = [10, 2, 'crash'];

const blocks: ModelBlock[] = [];
const chain = randomChain(Number(seed));
while (blocks.length < height) blocks.push(chain.next(blocks.at(-1)));

let left = Number(killAt);
const database = await openEmbedded(folder);
await migrateTx(database, prefix);
const { store, reader } = openTx(database, prefix, {
  fault() {
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    left -= 1;
  },
});
await store.recover();
while (store.position.height < height) {
  const from = store.position.height;
  await store.writeBlocks(blocks.slice(from, from + batch));
}
while (store.position.internal_height < height) {
  const from = store.position.internal_height;
  await store.writeTraces(blocks.slice(from, from + batch + 1).map(traceOf));
}
const digest = createHash('sha256');
for (const list of everyList(reader, blocks, height)) {
  const request = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };
  const { bodies, pagination } = await list.read(request);
  digest.update(`${list.name} ${pagination.total}\n`);
  for (const body of bodies) digest.update(body);
}
await database.close();
process.stdout.write(digest.digest('hex'));
