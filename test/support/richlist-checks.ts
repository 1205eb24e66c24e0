import assert from 'node:assert/strict';
import type { PageRequest } from '../../services/common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { balanceAt, changesBetween, holdersAt, momentOf } from '../../services/richlist/read/history.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import type { Reader } from '../../services/richlist/read/reader.js';
import { checkOffsets, checkWalk } from './lists.js';
import type { Random } from './random.js';
import { holdersOf, ledgerKey, type ModelIndex, modelAccounts } from './richlist-model.js';

/** Walks a list forward to its end and back, and fails unless it is as expected. */
export async function checkList(
  reader: Reader,
  token: string,
  expected: readonly Holder[],
  random: Random,
): Promise<void> {
  const list = {
    name: token,
    items: expected.toReversed(),
    read: (request: PageRequest) => listHolders(reader, token, request, {}),
  };
  for (const reverse of [true, false]) {
    const limit = 2 + random.integer(5);
    await checkWalk(list, limit, reverse);
    await checkOffsets(list, limit, reverse, [random.integer(expected.length + 2)]);
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
