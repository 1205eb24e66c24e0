import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { Lines } from '../../services/common/clickhouse/lines.js';
import { readAccountHeads } from '../../services/tx/store/account-heads.js';
import { type AccountHead, type ListKey, latestKept, listKey } from '../../services/tx/store/account-list.js';
import type { Position } from '../../services/tx/store/cursor.js';
import { readPosition } from '../../services/tx/store/cursor.js';
import { readListEnds } from '../../services/tx/store/list-ends.js';
import { makeHeads } from '../../services/tx/store/make-heads.js';
import { restoreHeads } from '../../services/tx/store/restore-heads.js';
import { accountLists, type Kind, type Tables } from '../../services/tx/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import {
  accounts,
  busy,
  listsOf,
  type ModelBlock,
  randomChain,
  stranger,
  traceOf,
} from '../support/tx-model.js';
import { migrateTx, openTx } from '../support/tx-tables.js';

const options = { name: 'test' };

/** The end of every list of a model's blocks. */
function endsOf(blocks: readonly ModelBlock[], internal_height: number): Map<ListKey, AccountHead> {
  const { txs, evm_txs, frames } = listsOf(blocks, internal_height);
  const ends = new Map<ListKey, AccountHead>();
  const add = (key: ListKey, sequence: number): void => {
    const { count, latest } = ends.get(key) ?? { count: 0, latest: [] };
    ends.set(key, { count: count + 1, latest: [sequence, ...latest].slice(0, latestKept) });
  };
  for (const [kind, items] of Object.entries({ tx: txs, evm_tx: evm_txs, internal_tx: frames }))
    for (const [index, item] of items.entries())
      for (const [account, isSender] of item.accounts) {
        const { named, sent } = accountLists[kind as Kind];
        add(listKey(named, account), index + 1);
        if (isSender) add(listKey(sent, account), index + 1);
      }
  return ends;
}

describe('the ends of account lists, by their items', function () {
  this.timeout(60_000);
  const [top, middle] = [24, 15];
  let database: Database;
  let tables: Tables;
  let position: Position;
  const blocks: ModelBlock[] = [];
  const expected = endsOf;
  const keys = Object.values(accountLists)
    .flatMap(({ named, sent }) => [named, sent])
    .flatMap((list) => [...accounts, busy, stranger].map((account) => listKey(list, account)));
  const only = (ends: ReadonlyMap<ListKey, AccountHead>) =>
    new Map(keys.flatMap((key) => (ends.has(key) ? [[key, ends.get(key) as AccountHead] as const] : [])));
  const insertHeads = (rows: Lines): Promise<void> =>
    database.insert(
      `${tables.of('account_heads')} (list, account, ord, sequence, latest)`,
      [...rows.texts()].join('\n'),
      options,
      'TabSeparated',
    );

  before(async () => {
    database = await testDatabase();
    const prefix = uniquePrefix();
    await migrateTx(database, prefix);
    const { store, reader } = openTx(database, prefix);
    tables = reader.tables;
    await store.recover();
    const chain = randomChain(5);
    while (blocks.length < top) {
      const block = chain.next(blocks.at(-1));
      blocks.push(block);
      await store.writeBlocks([block]);
      await store.writeTraces([traceOf(block)]);
    }
    position = await readPosition(database, tables, middle);
    assert.equal(position.internal_height, middle);
  });

  it('are the same read whole and from the end, at any height', async () => {
    for (const height of [top, middle, 1]) {
      const { last } = await readPosition(database, tables, height);
      const right = only(expected(blocks.slice(0, height), height));
      for (const length of [undefined, 10, 1_000_000]) {
        const wanted = keys.map((key) => ({ key, length }));
        assert.deepEqual(
          only(await readListEnds(database, tables, wanted, last)),
          right,
          `${height}, ${length}`,
        );
      }
    }
    const long = [...expected(blocks, top).values()].filter(({ count }) => count > latestKept);
    assert.ok(long.length > 0, 'lists longer than what a head keeps');
  });

  it('are put right where newer rows have replaced them, a few at a time', async () => {
    await database.command(`OPTIMIZE TABLE ${tables.of('account_heads')} FINAL`, {}, options);
    const read = await readAccountHeads(database, tables, keys, position.last);
    // Right, but only because the items are asked.
    const right = only(expected(blocks.slice(0, middle), middle));
    assert.deepEqual(only(read), right);
    for (const [list, above] of Object.entries(position.last))
      await database.command(
        `DELETE FROM ${tables.of('account_heads')} WHERE list IN {lists:Array(String)} AND sequence > {above:UInt64}`,
        { lists: Object.values(accountLists[list as Kind]), above },
        options,
      );
    await restoreHeads({ database, tables, insertHeads, atOnce: 3 }, position);
    const stored = await storedHeads();
    for (const [key, end] of right) assert.deepEqual(stored.get(key), end, key);
    assert.equal(stored.size, expected(blocks.slice(0, middle), middle).size);
  });

  it('are made where there are none, a few items at a time', async () => {
    const { last } = await readPosition(database, tables);
    for (const atOnce of [7, 100_000]) {
      await database.command(`TRUNCATE TABLE ${tables.of('account_heads')}`, {}, options);
      await makeHeads({ database, tables, insertHeads, atOnce }, { ...position, last });
      const stored = await storedHeads();
      assert.deepEqual(only(stored), only(expected(blocks, top)), String(atOnce));
      // Nothing is made again where there are some.
      await makeHeads({ database, tables, insertHeads: () => assert.fail('made twice') }, position);
    }
  });

  async function storedHeads(): Promise<Map<ListKey, AccountHead>> {
    const rows = await database.rows<{
      list: Parameters<typeof listKey>[0];
      account: string;
      ord: number;
      latest: number[];
    }>(`SELECT list, account, ord, latest FROM ${tables.of('account_heads')} FINAL`, {}, options);
    return new Map(
      rows.map(({ list, account, ord, latest }) => [listKey(list, account), { count: ord, latest }]),
    );
  }
});
