import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { readPosition } from '../../services/tx/store/cursor.js';
import {
  type ListEnd,
  type ListKey,
  latestKept,
  listKey,
  readListEnds,
} from '../../services/tx/store/list-ends.js';
import { accountLists, type Kind, type Tables } from '../../services/tx/store/tables.js';
import { execute, testDatabase, uniquePrefix } from '../support/database.js';
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

/** The end of every list of a model's blocks. */
function endsOf(blocks: readonly ModelBlock[], internal_height: number): Map<ListKey, ListEnd> {
  const { txs, evm_txs, frames } = listsOf(blocks, internal_height);
  const ends = new Map<ListKey, ListEnd>();
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

describe('the ends of account lists, by their items', () => {
  const [top, middle] = [24, 15];
  let database: Database;
  let tables: Tables;
  const blocks: ModelBlock[] = [];
  const keys = Object.values(accountLists)
    .flatMap(({ named, sent }) => [named, sent])
    .flatMap((list) => [...accounts, busy, stranger].map((account) => listKey(list, account)));
  const only = (ends: ReadonlyMap<ListKey, ListEnd>) =>
    new Map(keys.flatMap((key) => (ends.has(key) ? [[key, ends.get(key) as ListEnd] as const] : [])));
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
    assert.equal(store.position.internal_height, top);
  });

  it('are those of any height, from the view or counted, whatever has been merged', async () => {
    for (const isMerged of [false, true]) {
      if (isMerged) await execute(`OPTIMIZE TABLE ${tables.of('list_ends')} FINAL`);
      for (const height of [top, top - 1, middle, 1]) {
        const { last } = await readPosition(database, tables, height);
        const right = only(endsOf(blocks.slice(0, height), height));
        for (const isRepairing of [false, true]) {
          const found = await readListEnds(database, tables, keys, last, {}, isRepairing);
          assert.deepEqual([...found.keys()].sort(), [...right.keys()].sort());
          for (const [key, { count, latest }] of right) {
            const end = found.get(key) as ListEnd;
            assert.equal(end.count, count, `${key} at ${height}`);
            // A row that is ahead of the height knows fewer of the last items.
            assert.deepEqual(end.latest, latest.slice(0, end.latest.length), key);
            assert.ok(end.latest.length > 0);
            if (isRepairing || height === top) assert.equal(end.latest.length, latest.length);
          }
        }
      }
    }
    const long = [...endsOf(blocks, top).values()].filter(({ count }) => count > latestKept);
    assert.ok(long.length > 0, 'lists longer than what an end keeps');
  });
});
