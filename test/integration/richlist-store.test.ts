import assert from 'node:assert/strict';
import { aroundStatements, type Database, type Params } from '../../services/common/clickhouse/database.js';
import { AccessDenied } from '../../services/common/runtime/errors.js';
import { isRepairing } from '../../services/common/writer/head-table.js';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import type { Deltas } from '../../services/richlist/decode/transfers.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import { findToken } from '../../services/richlist/read/reader.js';
import { execute, query, testDatabase, uniquePrefix } from '../support/database.js';
import { openTestRichlist, type TestRichlist } from '../support/richlist-tables.js';
import { differencesOf } from '../support/views.js';

const [early, late] = ['a'.repeat(40), 'b'.repeat(40)];
const accountOf = (n: number): string => n.toString(16).padStart(40, '0');

/** A block in which accounts are given 10 of tokens each. */
const block = (
  height: number,
  gifts: readonly (readonly [token: string, account: number])[],
): DecodedBlock => {
  const deltas: Deltas = new Map();
  for (const [token, n] of gifts) {
    const accounts = deltas.get(token) ?? new Map<string, bigint>();
    deltas.set(token, accounts.set(accountOf(n), 10n));
  }
  return {
    height,
    hash: `H${height}`,
    parent_hash: `H${height - 1}`,
    deltas,
    created: new Set(),
    problems: [],
  };
};

const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };

describe('the tables of the rich list', () => {
  async function open(): Promise<TestRichlist> {
    const list = await openTestRichlist(await testDatabase(), uniquePrefix());
    await list.store.recover();
    return list;
  }

  const totals = async ({ index }: TestRichlist, token: string): Promise<[string, number]> => {
    const { pagination, items } = await listHolders(index.reader, token, page, {});
    return [pagination.total, items.length];
  };

  it('a denom is found as it is spelled, or in any case where it fits one only', async () => {
    const { index } = await open();
    const tokenOf = (n: number): string => String(n).padStart(40, '0');
    const denoms = ['uABC', 'AbA', 'abA', 'aBA', 'ABA', 'Aba', 'ABa'];
    const rows = denoms.map((denom, n) => `('${denom.toLowerCase()}', '${denom}', '${tokenOf(n)}', 0)`);
    await execute(
      `INSERT INTO ${index.tables.of('denoms')} (folded, denom, token, ord) VALUES ${rows.join(', ')}`,
    );
    const found = (denom: string) => findToken(index.reader, denom, {});
    assert.equal(await found('uABC'), tokenOf(0));
    assert.equal(await found('uabc'), tokenOf(0));
    for (const denom of denoms) assert.equal(await found(denom), tokenOf(denoms.indexOf(denom)), denom);
    // Six fit; a few are named.
    await assert.rejects(found('aba'), /fits several: ABA, ABa, AbA, Aba, aBA$/);
  });

  it('a rollback into the middle of a batch spares what changed before and not after', async () => {
    const list = await open();
    await list.store.writeBlocks([block(1, [])]);
    await list.store.writeBlocks([
      block(
        2,
        [1, 2, 3].map((n) => [early, n] as const),
      ),
      block(
        3,
        [1, 2].map((n) => [late, n] as const),
      ),
      block(4, [[late, 3]]),
    ]);
    await list.store.unwind(3);
    assert.deepEqual(await totals(list, early), ['3', 3]);
    assert.deepEqual(await totals(list, late), ['2', 2]);
    assert.equal(await findToken(list.index.reader, `0x${late}`, {}), late);
    await list.store.unwind(2);
    assert.deepEqual(await totals(list, early), ['3', 3]);
    assert.equal(await findToken(list.index.reader, `evm/${early}`, {}), early);
    assert.deepEqual(await totals(list, late), ['0', 0]);
    await assert.rejects(findToken(list.index.reader, `0x${late}`, {}), /is not known/);
  });

  it('takes only the blocks that follow', async () => {
    const list = await open();
    await list.store.writeBlocks([block(1, []), block(2, [])]);
    await assert.rejects(list.store.writeBlocks([block(4, [])]), /does not follow/);
    // After a failure it looks what is there before it writes again.
    await assert.rejects(list.store.writeBlocks([block(3, [])]), /must be recovered/);
    await list.store.mend();
    await list.store.writeBlocks([block(3, [])]);
    assert.equal(list.store.position.height, 3);
  });

  it('is not recovered for a write that is under way', async () => {
    let mending: Promise<void> | undefined;
    const list = await openTestRichlist(await testDatabase(), uniquePrefix(), {
      fault: (point) => {
        if (point === 'write account_balances') mending = list.store.mend();
      },
    });
    await list.store.recover();
    const { revision } = list.store;
    await list.store.writeBlocks([block(1, []), block(2, [[early, 1]])]);
    assert.ok(mending !== undefined);
    await mending;
    assert.equal(list.store.revision, revision);
    assert.equal(list.store.position.height, 2);
  });

  it('nothing is healed by answers from before a rollback', async () => {
    const list = await open();
    await list.store.writeBlocks([block(1, []), block(2, [[early, 1]])]);
    const { revision } = list.store;
    await list.store.unwind(1);
    await list.store.writeBlocks([block(2, [[early, 1]])]);
    const answer = { token: early, account: accountOf(1), height: 2, amount: 99n };
    assert.deepEqual(await list.store.heal([answer], revision), []);
    assert.equal((await list.store.heal([answer], list.store.revision)).length, 1);
    assert.equal((await listHolders(list.index.reader, early, page, {})).items[0]?.amount, '99');
  });

  it('drops deleted rows of the list, and goes without where it may not', async () => {
    const run = async (isAllowed: boolean): Promise<number> => {
      const real = await testDatabase();
      const database = {
        ...real,
        command: async (sql: string, ...rest: [object, { name: string }]) => {
          if (!isAllowed && sql.startsWith('OPTIMIZE')) throw new AccessDenied('OPTIMIZE is not granted');
          await real.command(sql, rest[0] as Params, rest[1]);
        },
      };
      const list = await openTestRichlist(database, uniquePrefix(), {
        compaction: { batches: 4, fewest: 6 },
      });
      await list.store.recover();
      for (let height = 1; height <= 12; height++)
        await list.store.writeBlocks([
          block(
            height,
            [1, 2, 3].map((n) => [early, n] as const),
          ),
        ]);
      assert.deepEqual(await totals(list, early), ['3', 3]);
      const [row] = await query<{ deleted: number }>(
        `SELECT countIf(v.is_deleted = 1) AS deleted FROM ${list.index.tables.of('holder_list')} AS v`,
      );
      return row?.deleted ?? -1;
    };
    assert.equal(await run(true), 0);
    assert.ok((await run(false)) > 20);
  });

  it('makes views from the facts of a version that had none, and says so to everybody', async () => {
    const [database, prefix, told]: [Database, string, string[]] = [await testDatabase(), uniquePrefix(), []];
    let isKilled = false;
    const { store, index } = await openTestRichlist(database, prefix, {
      fault() {
        if (isKilled) throw new Error('killed');
      },
      onRebuild: (progress) => told.push(progress),
    });
    await store.recover();
    await store.writeBlocks([block(1, []), block(2, [[early, 1]])]);
    for (const table of ['head', 'account_balances', 'holder_list', 'holder_counts'] as const)
      await execute(`TRUNCATE TABLE ${index.tables.of(table)}`);
    // Until it is done nobody shows what is not there yet.
    const waiting = await openTestRichlist(database, prefix);
    assert.equal(waiting.index.head.position.height, 2);
    assert.equal(isRepairing(waiting.index.head.repairs), true);
    isKilled = true;
    await assert.rejects(store.recover(), /killed/);
    isKilled = false;
    // Who serves with the version before says that it cannot answer.
    const [rollback] = await query<{ n: number }>(`SELECT max(number) AS n FROM ${index.tables.of('cuts')}`);
    assert.equal((rollback?.n ?? 0) % 2, 1);
    await store.recover();
    assert.deepEqual(told, [
      ...['account_balances, 1', 'holder_list, 2', 'holder_counts, 3'].map(
        (view) => `views are being made from facts: ${view} of 3`,
      ),
      '',
    ]);
  });

  it('counts as being repaired while one statement cannot take all rows of a view', async () => {
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    let lists = 0;
    const { store } = await openTestRichlist(database, prefix, {
      viewRows: 2,
      fault(point) {
        if (point === 'write holder_list' && ++lists === 2) throw new Error('killed');
      },
    });
    const reader = await openTestRichlist(database, prefix);
    /** Whether a process that only reads may not show lists, and what a list has. */
    const seen = async (): Promise<readonly [boolean, string, number]> => {
      await reader.index.look();
      return [isRepairing(reader.index.head.repairs), ...(await totals(reader, early))];
    };
    const gifts = block(
      1,
      [1, 2, 3, 4, 5].map((n) => [early, n] as const),
    );
    await store.recover();
    await assert.rejects(store.writeBlocks([gifts]), /killed/);
    assert.deepEqual((await seen())[0], true);
    await store.recover();
    assert.deepEqual(await seen(), [false, '0', 0]);
    assert.deepEqual(await differencesOf(store.compareViews()), []);
    await store.writeBlocks([gifts]);
    assert.deepEqual(await seen(), [false, '5', 5]);
    assert.deepEqual(await differencesOf(store.compareViews()), []);
  });

  it('is compared while it is written: what a write changes meanwhile is no difference', async () => {
    const database = await testDatabase();
    let next = 1;
    let isWriting = true;
    const slow = aroundStatements(database, async (options, run) => {
      // The writer goes on: who holds it would never see the end of this.
      if (isWriting && options.name.endsWith('compare_view') && options.priority === 'background')
        for (let n = 0; n < 3; n++) await store.writeBlocks([gift(++next)]);
      return run(options);
    });
    const gift = (height: number): DecodedBlock =>
      block(
        height,
        [1, 2, 3, height].map((n) => [early, n] as const),
      );
    const { index, store } = await openTestRichlist(slow, uniquePrefix());
    await store.recover();
    await store.writeBlocks([gift(1)]);
    const compared = async (): Promise<string[]> =>
      (await differencesOf(store.compareViews())).map(({ table, kind }) => `${table} ${kind}`);
    assert.deepEqual(await compared(), []);
    assert.ok(next > 9);
    const list = index.tables.of('holder_list');
    await execute(
      `INSERT INTO ${list} (token, place, account, version) SELECT token, place - 1, account, version FROM ${list} WHERE account = '${accountOf(1)}' ORDER BY version DESC LIMIT 1`,
    );
    assert.deepEqual(await compared(), ['holder_list foreign']);
    isWriting = false;
    assert.deepEqual(await compared(), ['holder_list foreign']);
  });

  it('a process that only reads sees what another writes, heals and rollbacks too', async () => {
    const prefix = uniquePrefix();
    const database = await testDatabase();
    const writer = await openTestRichlist(database, prefix);
    await writer.store.recover();
    const reader = await openTestRichlist(database, prefix);
    const look = (): Promise<void> => reader.index.look();
    await writer.store.writeBlocks([block(1, []), block(2, [[early, 1]])]);
    assert.deepEqual(await totals(reader, early), ['0', 0]);
    await look();
    assert.deepEqual(await totals(reader, early), ['1', 1]);
    const heal = { token: early, account: accountOf(1), height: 2, amount: 7n };
    await writer.store.heal([heal], writer.store.revision);
    await look();
    assert.equal((await listHolders(reader.index.reader, early, page, {})).items[0]?.amount, '7');
    const { revision } = reader.index.head;
    await writer.store.unwind(1);
    await look();
    assert.notEqual(reader.index.head.revision, revision);
    assert.deepEqual(await totals(reader, early), ['0', 0]);
  });
});
