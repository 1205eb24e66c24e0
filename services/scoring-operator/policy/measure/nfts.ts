import type { AccountKey } from '../../../common/chain/address.js';
import type { Measure } from '../facts.js';
import { type Clock, type Weighing, weigh } from './clock.js';
import { createTally } from './tally.js';

/** A change of who owns a token. */
export interface OwnerChange {
  readonly height: number;
  /** undefined where there is none: before a mint, after a burn, and where a text names no account. */
  readonly previous_owner: AccountKey | undefined;
  readonly owner: AccountKey | undefined;
}

/** Averages how many tokens accounts own; changes must come in the order of the chain. */
export interface OwnerTally {
  /** A token that was owned when the stage began; before any change. */
  open(owner: AccountKey): void;
  change(change: OwnerChange): void;
  measure(): Measure;
}

interface Owned {
  count: bigint;
  readonly weighing: Weighing;
}

/** Starts with nobody owning anything. */
export function ownerTally(clock: Clock): OwnerTally {
  const accounts = new Map<AccountKey, Owned>();
  const move = (account: AccountKey, by: bigint, time: bigint): void => {
    const owned = accounts.get(account) ?? { count: 0n, weighing: weigh(clock) };
    accounts.set(account, owned);
    owned.count += by;
    owned.weighing.set(time, owned.count);
  };
  return {
    open: (owner) => move(owner, 1n, clock.start),
    change({ height, previous_owner, owner }) {
      if (previous_owner === owner) return;
      const time = clock.timeOf(height);
      if (previous_owner !== undefined) move(previous_owner, -1n, time);
      if (owner !== undefined) move(owner, 1n, time);
    },
    measure() {
      const tally = createTally();
      for (const [account, { weighing }] of accounts) tally.add(account, weighing.total());
      return tally.measure(clock.end - clock.start);
    },
  };
}
