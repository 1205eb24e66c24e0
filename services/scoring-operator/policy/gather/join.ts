import type { AccountKey } from '../../../common/chain/address.js';
import type { BalanceChange, BalanceHistory } from '../measure/balances.js';

/** An account with all that is known of its balance in a window. */
export interface AccountHistory extends BalanceHistory {
  readonly account: AccountKey;
}

/** Who held how much before a window. */
export interface OpeningBalance {
  readonly account: AccountKey;
  readonly amount: bigint;
}

/** A change of one account's balance. */
export interface AccountChange extends BalanceChange {
  readonly account: AccountKey;
}

/**
 * Joins what accounts held before a window with what changed in it. Both must come in the
 * order of accounts; only one account is in memory at a time.
 *
 * @throws Error when they come in another order: what follows would be wrong.
 */
export async function* joinHistories(
  openings: AsyncIterable<OpeningBalance>,
  changes: AsyncIterable<AccountChange>,
): AsyncGenerator<AccountHistory, void, undefined> {
  const opening = openings[Symbol.asyncIterator]();
  const change = changes[Symbol.asyncIterator]();
  try {
    let [held, changed] = [await opening.next(), await change.next()];
    let before = '';
    while (held.done !== true || changed.done !== true) {
      const account = least(
        held.done === true ? undefined : held.value.account,
        changed.done === true ? undefined : changed.value.account,
      );
      if (account <= before) throw new Error(`balances come in no order: ${account} after ${before}`);
      before = account;
      let amount = 0n;
      if (held.done !== true && held.value.account === account) {
        amount = held.value.amount;
        held = await opening.next();
      }
      const own: BalanceChange[] = [];
      while (changed.done !== true && changed.value.account === account) {
        own.push(changed.value);
        changed = await change.next();
      }
      yield { account, opening: amount, changes: own };
    }
  } finally {
    await Promise.all([opening.return?.(), change.return?.()]);
  }
}

const least = (a: AccountKey | undefined, b: AccountKey | undefined): AccountKey =>
  (a === undefined || (b !== undefined && b < a) ? b : a) as AccountKey;
