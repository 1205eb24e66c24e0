import assert from 'node:assert/strict';
import type { PageRequest } from '../../services/common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import type { MovingPage } from '../../services/common/page/moving.js';
import { balanceAt, changesBetween, holdersAt, momentOf } from '../../services/richlist/read/history.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import type { Reader } from '../../services/richlist/read/reader.js';
import type { Random } from './random.js';
import { holdersOf, ledgerKey, type ModelIndex, modelAccounts } from './richlist-model.js';

const request = (more: Partial<PageRequest>): PageRequest => ({
  key: '',
  offset: 0,
  limit: 1000,
  count_total: true,
  reverse: true,
  ...more,
});

/** Walks a list forward to its end and back, and fails unless it is as expected. */
export async function checkList(
  reader: Reader,
  token: string,
  expected: readonly Holder[],
  random: Random,
): Promise<void> {
  for (const reverse of [true, false]) {
    const wanted = reverse ? [...expected] : [...expected].reverse();
    const limit = 2 + random.integer(5);
    const read = (more: Partial<PageRequest>): Promise<MovingPage<Holder>> =>
      listHolders(reader, token, request({ limit, reverse, ...more }), {});
    const pages: MovingPage<Holder>[] = [];
    for (let key = ''; pages.length === 0 || key !== ''; key = pages.at(-1)?.pagination.next_key ?? '') {
      pages.push(await read({ key }));
      assert.ok(pages.length <= wanted.length + 1, 'the walk does not end');
    }
    assert.deepEqual(
      pages.flatMap((page) => page.items),
      wanted,
    );
    assert.equal(pages.length, Math.max(1, Math.ceil(wanted.length / limit)));
    for (const page of pages) assert.equal(page.pagination.total, String(wanted.length));
    const back: Holder[][] = [];
    for (let key = pages.at(-1)?.pagination.previous_key ?? ''; key !== ''; ) {
      const page = await read({ key });
      back.unshift(page.items);
      key = page.pagination.previous_key;
    }
    assert.deepEqual(
      back,
      pages.slice(0, -1).map((page) => page.items),
    );
    const offset = random.integer(wanted.length + 2);
    const page = await read({ offset, count_total: false });
    assert.deepEqual(page.items, wanted.slice(offset, offset + limit));
    assert.equal(page.pagination.total, '0');
    assert.equal(page.pagination.next_key !== '', offset + limit < wanted.length);
    assert.equal(page.pagination.previous_key !== '', offset > 0 && wanted.length > 0);
  }
}

/** Compares balances and holders at a height, and the changes up to it, with the model's. */
export async function checkPast(
  reader: Reader,
  token: string,
  model: ModelIndex,
  height: number,
): Promise<void> {
  const ledger = model.at.get(height) ?? new Map();
  const moment = momentOf(reader, height, height);
  for (const account of modelAccounts) {
    const { amount } = await balanceAt(reader, token, account, moment, {});
    assert.equal(amount, String(ledger.get(ledgerKey(token, account)) ?? 0n), `${account} at ${height}`);
  }
  const all: Holder[] = [];
  for await (const some of holdersAt(reader, token, moment, {})) all.push(...some);
  const expected = holdersOf(ledger, token).sort((a, b) => (a.account < b.account ? -1 : 1));
  assert.deepEqual(all, expected);
  // The last change of each account up to a height is its balance there.
  const last = new Map<string, string>();
  for await (const some of changesBetween(reader, token, momentOf(reader, 0, height), {}))
    for (const change of some) last.set(change.account, change.amount);
  assert.deepEqual(
    [...last].filter(([, amount]) => amount !== '0').map(([account, amount]) => ({ account, amount })),
    expected,
  );
}
