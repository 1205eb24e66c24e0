import assert from 'node:assert/strict';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import { execute, testDatabase, uniquePrefix } from '../support/database.js';
import { openTestRichlist, seedOf } from '../support/richlist-tables.js';
import { counting } from '../support/statements.js';

const token = 'c'.repeat(40);
const [count, leave] = [12_000, 10_000];
const accountOf = (n: number): string => n.toString(16).padStart(40, '0');
/** The first have the most. */
const amountOf = (n: number): bigint => BigInt(1_000_000 - n);

describe('a rich list whose largest holders have all left', () => {
  it('is read over them in few statements, from either end, by key and by offset', async () => {
    const database = await testDatabase();
    const prefix = uniquePrefix();
    const ledger = new Map(Array.from({ length: count }, (_, n) => [token + accountOf(n), amountOf(n)]));
    const { store } = await openTestRichlist(database, prefix, {
      openSeed: async (height) => ({ height, balances: () => seedOf(ledger, 4_000) }),
    });
    await store.recover();
    // Parts are not merged meanwhile, so that every row of the past is still there.
    await execute(`SYSTEM STOP MERGES ${prefix}_richlist.holders`);
    const block = (height: number, deltas: [string, bigint][]): DecodedBlock => ({
      ...{ height, hash: `H${height}`, parent_hash: `H${height - 1}` },
      ...{ deltas: new Map([[token, new Map(deltas)]]), created: new Set(), problems: [] },
    });
    await store.writeBlocks([block(1, [])]);
    const gone = Array.from({ length: leave }, (_, n) => n).filter((n) => n % 2_500 !== 7);
    await store.writeBlocks([
      block(
        2,
        gone.map((n) => [accountOf(n), -amountOf(n)]),
      ),
    ]);
    const stay = Array.from({ length: count }, (_, n) => n).filter((n) => !gone.includes(n));
    const expected = stay.map((n) => ({ account: `0x${accountOf(n)}`, amount: String(amountOf(n)) }));

    const { counted, seen } = counting(database);
    const { index } = await openTestRichlist(database, prefix);
    const reader = { ...index.reader, database: counted };
    for (const reverse of [true, false]) {
      const ordered = reverse ? expected : expected.toReversed();
      const ask = (key: string, offset: number, limit: number) =>
        listHolders(reader, token, { key, offset, limit, count_total: true, reverse }, {});
      seen.names.length = 0;
      const first = await ask('', 0, 20);
      assert.ok(seen.names.length <= 8, seen.names.join(', '));
      assert.deepEqual(first.items, ordered.slice(0, 20));
      assert.equal(first.pagination.total, String(expected.length));
      // The whole list, over the gap in the middle of a page too.
      const pages = [await ask('', 0, 411)];
      for (let key = pages[0]?.pagination.next_key ?? ''; key !== ''; ) {
        pages.push(await ask(key, 0, 411));
        key = pages.at(-1)?.pagination.next_key ?? '';
      }
      assert.deepEqual(
        pages.flatMap(({ items }) => items),
        ordered,
      );
      const last = pages.at(-1)?.pagination.previous_key ?? '';
      assert.deepEqual((await ask(last, 0, 411)).items, pages.at(-2)?.items);
      for (const offset of [1, 3, 4, 5, 900, expected.length - 2])
        assert.deepEqual((await ask('', offset, 9)).items, ordered.slice(offset, offset + 9), `${offset}`);
    }
  });
});
