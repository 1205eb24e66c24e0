import type { AccountKey } from '../../../common/chain/address.js';
import type { Measure } from '../facts.js';

/** Adds up values by account. */
export interface Tally {
  add(account: AccountKey, value: bigint): void;
  /** What was added up so far, in whole numbers of 1 / denominator. */
  measure(denominator?: bigint): Measure;
}

/** Starts an empty tally; accounts that are not of 20 bytes are only counted. */
export function createTally(): Tally {
  const values = new Map<AccountKey, bigint>();
  const others = new Set<AccountKey>();
  return {
    add(account, value) {
      if (value <= 0n) return;
      if (account.length === 40) values.set(account, (values.get(account) ?? 0n) + value);
      else others.add(account);
    },
    measure: (denominator = 1n) => ({ values: new Map(values), denominator, left_out: others.size }),
  };
}
