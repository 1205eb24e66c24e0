import assert from 'node:assert/strict';
import { type Database, QueryTimeout } from '../../services/common/clickhouse/database.js';
import { lookOf } from '../../services/common/consumer/look.js';
import { noFactFiles } from '../../services/common/util/fact-files.js';
import { getByHash, listAll, listByAccount } from '../../services/tx/read/lists.js';
import { createReader } from '../../services/tx/read/reader.js';
import { createHead } from '../../services/tx/store/cursor.js';
import { headOf, tablesOf } from '../../services/tx/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { counting } from '../support/statements.js';
import { busy, listsOf, type ModelBlock, naming, randomChain } from '../support/tx-model.js';
import { migrateTx, openTx, type TxTables, type TxTablesOptions } from '../support/tx-tables.js';

const page = { key: '', offset: 0, limit: 10, count_total: true, reverse: true };

describe('reading the tables of the tx service', () => {
  let prefix = '';
  let blocks: ModelBlock[] = [];
  const chain = randomChain(77);
  const more = (count: number): ModelBlock[] => {
    for (let made = 0; made < count; made++) blocks.push(chain.next(blocks.at(-1)));
    return blocks.slice(-count);
  };
  /** Opens the tables, as a process that starts does. */
  const open = async (options: TxTablesOptions = {}, database?: Database): Promise<TxTables> => {
    const tables = openTx(database ?? (await testDatabase()), prefix, options);
    await tables.store.recover();
    return tables;
  };
  beforeEach(async () => {
    prefix = uniquePrefix();
    blocks = [];
    await migrateTx(await testDatabase(), prefix);
  });
  const ofBusy = (): string[] =>
    listsOf(blocks, 0)
      .txs.filter(({ accounts }) => accounts.has(busy))
      .map(({ body }) => body)
      .reverse();

  it('asks once for what many ask at the same time, and not again for what it remembers', async () => {
    const { counted, seen } = counting(await testDatabase());
    const { store, reader } = await open({}, counted);
    await store.writeBlocks(more(20));
    const cold = await open({}, counted);
    const { txs } = listsOf(blocks, 0);
    seen.names.length = 0;
    const found = await Promise.all(txs.map(({ hash }) => getByHash(cold.reader, 'tx', hash, {})));
    assert.deepEqual(
      found.map((one) => String(one?.body)),
      txs.map(({ body }) => body),
    );
    // Besides what a start asks for on its own.
    const asked = (): string[] =>
      seen.names.filter((name) => !['tx.newest_hashes', 'tx.table_id'].includes(name));
    assert.ok(asked().length <= 4, `${txs.length} txs by ${asked().length} statements`);
    seen.names.length = 0;
    await Promise.all(txs.map(({ hash }) => getByHash(cold.reader, 'tx', hash, {})));
    await Promise.all(txs.map(({ hash }) => getByHash(reader, 'tx', hash, {})));
    await listByAccount(reader, 'tx', busy, false, page, {});
    await listAll(reader, 'tx', page, {});
    assert.deepEqual(asked(), []);
  });

  it('shows the new end of a list as soon as it is written, here and in other processes', async () => {
    const database = await testDatabase();
    const { store, reader } = await open();
    const head = createHead();
    const tables = tablesOf({ database: `${prefix}_tx`, cluster: '' });
    const other = createReader({
      database,
      tables,
      head,
      files: noFactFiles,
      cacheBytes: 1_000_000,
      atOnce: 1,
      writesToo: false,
    });
    const expectEnd = async (): Promise<void> => {
      for (const some of [reader, other]) {
        const { bodies, pagination } = await listByAccount(some, 'tx', busy, false, page, {});
        assert.deepEqual(bodies.map(String), ofBusy().slice(0, 10));
        assert.equal(pagination.total, String(ofBusy().length));
      }
    };
    for (let round = 0; round < 6; round++) {
      await store.writeBlocks(more(2));
      await lookOf(database, headOf(tables), head)();
      await expectEnd();
    }
    const before = head.revision;
    await store.unwind(8);
    blocks = blocks.slice(0, 8);
    await store.writeBlocks(more(5));
    await lookOf(database, headOf(tables), head)();
    assert.notEqual(head.revision, before, 'a rollback shows, although the height is higher again');
    await expectEnd();
  });

  it('does not show what is above the cursor, although it is in the tables', async () => {
    const { store, reader } = await open({
      fault: (point) => {
        if (point === 'write blocks' && blocks.length > 6) throw new Error('stopped');
      },
    });
    await store.writeBlocks(more(6));
    const seen = ofBusy();
    const txs = listsOf(blocks, 0).txs.length;
    await assert.rejects(store.writeBlocks(more(4)), /stopped/);
    for (const account of [
      busy,
      ...blocks.flatMap((block) => block.txs.flatMap((tx) => [...tx.named().accounts.keys()])),
    ]) {
      const expected = listsOf(blocks.slice(0, 6), 0).txs.filter((tx) => tx.accounts.has(account)).length;
      const { pagination } = await listByAccount(reader, 'tx', account, false, { ...page, limit: 1 }, {});
      assert.equal(pagination.total, String(expected), account);
    }
    assert.deepEqual(
      (await listByAccount(reader, 'tx', busy, false, page, {})).bodies.map(String),
      seen.slice(0, 10),
    );
    assert.equal((await listAll(reader, 'tx', page, {})).pagination.total, String(txs));
    const unseen = blocks.slice(6).flatMap((block) => block.txs)[0];
    assert.ok(unseen !== undefined);
    assert.equal(await getByHash(reader, 'tx', unseen.hash, {}), undefined);
    await assert.rejects(store.writeBlocks([]), /must be recovered/);
  });

  it('gives up when the caller no longer waits', async () => {
    const { store } = await open();
    await store.writeBlocks(more(5));
    const cold = await open({ cacheBytes: 0 });
    await assert.rejects(listAll(cold.reader, 'tx', page, { deadline: Date.now() - 1 }), QueryTimeout);
    const { bodies } = await listAll(cold.reader, 'tx', page, { deadline: Date.now() + 5_000 });
    assert.equal(bodies.length, Math.min(10, listsOf(blocks, 0).txs.length));
    assert.notEqual(bodies.length, 0);
  });

  it('finds the newest of two txs with the same bytes', async () => {
    const { store, reader } = await open();
    const [first, second] = more(2) as [ModelBlock, ModelBlock];
    const tx = (body: string) => ({ hash: 'f'.repeat(64), body, msgs: [], named: naming(new Map()) });
    await store.writeBlocks([{ ...first, txs: [tx('{"code":5}')] }]);
    assert.equal(String((await getByHash(reader, 'tx', 'f'.repeat(64), {}))?.body), '{"code":5}');
    await store.writeBlocks([{ ...second, txs: [tx('{"code":0}')] }]);
    const cold = await open();
    for (const some of [reader, cold.reader])
      assert.equal(String((await getByHash(some, 'tx', 'f'.repeat(64), {}))?.body), '{"code":0}');
  });
});
