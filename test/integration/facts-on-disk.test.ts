import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { Database } from '../../services/common/clickhouse/database.js';
import { lookOf } from '../../services/common/consumer/look.js';
import { noFactFiles } from '../../services/common/util/fact-files.js';
import { getByHash, listAll, listByHeight } from '../../services/tx/read/lists.js';
import { createReader, type Reader } from '../../services/tx/read/reader.js';
import { createHead } from '../../services/tx/store/cursor.js';
import { headOf, tablesOf } from '../../services/tx/store/tables.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { counting } from '../support/statements.js';
import { type ModelBlock, randomChain } from '../support/tx-model.js';
import { factFilesOf, folderOfFacts, migrateTx, openTx, type TxTables } from '../support/tx-tables.js';

const page = { key: '', offset: 0, limit: 1_000, count_total: true, reverse: false };

describe('facts on local disk', () => {
  let database: Database;
  let prefix: string;
  beforeEach(async () => {
    [database, prefix] = [await testDatabase(), uniquePrefix()];
    await migrateTx(database, prefix);
  });

  const chainOf = (seed: number, count: number, from: readonly ModelBlock[] = []): ModelBlock[] => {
    const [chain, blocks] = [randomChain(seed), [...from]];
    while (blocks.length < count) blocks.push(chain.next(blocks.at(-1)));
    return blocks;
  };
  const start = async (of = database): Promise<TxTables> => {
    const tables = openTx(of, prefix, { cacheBytes: 0 });
    await tables.store.recover();
    return tables;
  };
  /** What a reader says of blocks. */
  const said = async (reader: Reader, blocks: readonly ModelBlock[]) => {
    const all = await listAll(reader, 'tx', page, {});
    const heights = await Promise.all(
      blocks.map(({ height }) => listByHeight(reader, 'tx', height, page, {})),
    );
    const hashes = blocks.flatMap(({ txs }) => txs.map(({ hash }) => hash));
    const found = await Promise.all(hashes.map((hash) => getByHash(reader, 'tx', hash, {})));
    return {
      all: all.bodies.map(String),
      heights: heights.map(({ bodies }) => bodies.map(String)),
      found: found.map((one) => one && String(one.body)),
    };
  };
  const readerWith = (files = noFactFiles, head = createHead()): Reader =>
    createReader({
      ...{ database, tables: tablesOf({ database: `${prefix}_tx`, cluster: '' }), head, files },
      ...{ cacheBytes: 0, atOnce: 1, writesToo: false },
      look: lookOf(database, headOf(tablesOf({ database: `${prefix}_tx`, cluster: '' })), head),
    });

  /** A reader that looks everything up in the tables. */
  const uncached = async (): Promise<Reader> => {
    const reader = readerWith();
    await reader.look?.();
    return reader;
  };

  it('answer without a statement, also after a start; deleted they are asked for again', async () => {
    const blocks = chainOf(5, 20);
    const { store } = await start();
    await store.writeBlocks(blocks);
    const { counted, seen } = counting(database);
    const next = await start(counted);
    const expected = await said(await uncached(), blocks);
    assert.ok(expected.all.length > 20);
    const isSilent = async (): Promise<boolean> => {
      seen.names.length = 0;
      assert.deepEqual(await said(next.reader, blocks), expected);
      return seen.names.length === 0;
    };
    await eventually(isSilent, 'answers without a statement');
    rmSync(folderOfFacts(prefix), { recursive: true });
    const last = await start();
    assert.deepEqual(await said(last.reader, blocks), expected);
  });

  it('are those of the chain that is there after a rollback, in the process that writes and beside it', async () => {
    const [before, after] = [chainOf(5, 20), chainOf(6, 24, chainOf(5, 8))];
    const { store, reader } = await start();
    const head = createHead();
    const tables = tablesOf({ database: `${prefix}_tx`, cluster: '' });
    const beside = readerWith(factFilesOf(database, tables, head, `${prefix}-serve`), head);
    for (const blocks of [before, after, before]) {
      await store.unwind(8);
      await store.writeBlocks(blocks.slice(store.position.height));
      await beside.look?.();
      const expected = await said(await uncached(), blocks);
      for (const some of [reader, beside])
        for (let time = 0; time < 4; time++) assert.deepEqual(await said(some, blocks), expected);
      assert.deepEqual(await said((await start()).reader, blocks), expected);
    }
  });
});
