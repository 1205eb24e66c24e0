import assert from 'node:assert/strict';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { randomFrom } from '../support/random.js';
import { openTestRichlist, seedOf } from '../support/richlist-tables.js';
import { isThorough } from '../support/sample.js';

const token = 'c'.repeat(40);
const count = 150;
const accountOf = (n: number): string => n.toString(16).padStart(40, '0');
/** Many have the same: a page ends among equals. */
const amountOf = (n: number): bigint => BigInt(1_000 - 100 * (n % 7));
/** Holders that a walk must show: the others gain, lose and leave while it goes on. */
const staysPut = (n: number): boolean => n % 3 === 0;

describe('a walk through holders while the chain goes on', () => {
  for (const reverse of isThorough ? [true, false] : [false])
    it(`shows what stays exactly once (${reverse ? 'largest' : 'smallest'} first), over a rollback too`, async () => {
      const database = await testDatabase();
      const ledger = new Map(Array.from({ length: count }, (_, n) => [token + accountOf(n), amountOf(n)]));
      const { index, store } = await openTestRichlist(database, uniquePrefix(), {
        openSeed: async (height) => ({ height, balances: () => seedOf(ledger, 1_000) }),
      });
      await store.recover();
      const random = randomFrom(reverse ? 5 : 6);
      let forks = 0;
      const hashes = [''];
      const write = async (deltas: [string, bigint][]): Promise<void> => {
        const height = hashes.length;
        const hash = `H${height}.${forks}`;
        await store.writeBlocks([
          {
            ...{ height, hash, parent_hash: hashes[height - 1] ?? '', created: new Set(), problems: [] },
            deltas: new Map([[token, new Map(deltas)]]),
          } satisfies DecodedBlock,
        ]);
        hashes.push(hash);
      };
      await write([]);
      const restless = Array.from({ length: count }, (_, n) => n).filter((n) => !staysPut(n));
      const shown: string[] = [];
      let [key, pages] = ['', 0];
      do {
        const page = await listHolders(
          index.reader,
          token,
          { key, offset: 0, limit: 8, count_total: true, reverse },
          {},
        );
        shown.push(...page.items.map(({ account }) => account.slice(2)));
        assert.ok(Number(page.pagination.total) >= count / 3);
        key = page.pagination.next_key;
        pages += 1;
        // To the top, to the bottom, among equals, and out of it; one is new.
        const some = Array.from({ length: 12 }, () => random.pick(restless));
        await write([
          ...new Map(
            some.map((n): [string, bigint] => [
              accountOf(n),
              BigInt(random.pick([5_000, -5_000, 100, -100, 1])),
            ]),
          ),
          [accountOf(10_000 + pages), 700n],
        ]);
        if (pages % 4 === 3) {
          forks += 1;
          hashes.length -= 2;
          await store.unwind(hashes.length - 1);
        }
      } while (key !== '' && pages < 200);
      const stay = Array.from({ length: count }, (_, n) => n)
        .filter(staysPut)
        .map(accountOf);
      const seen = shown.filter((account) => stay.includes(account));
      assert.deepEqual([...seen].sort(), [...stay].sort());
      assert.ok(pages > 6);
    });
});
