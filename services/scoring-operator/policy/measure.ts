import type { AccountKey } from '../../common/chain/address.js';
import type { TxActivity } from '../../common/gen/indexer/tx/v1/activity.js';
import type { CallsRule, HoldingsRule, Measure, Rule, TransactionsRule, VolumeRule } from './policy.js';

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

/** A rule that looks at single transactions. */
export type ActivityRule = TransactionsRule | CallsRule;

/** Whether a rule looks at single transactions. */
export const isActivityRule = (rule: Rule): rule is ActivityRule =>
  rule.kind === 'transactions' || rule.kind === 'gas_used' || rule.kind === 'calls';

/** Measures a rule over transactions, in any order; each must be given once. */
export function activityTally(rule: ActivityRule): { add(tx: TxActivity): void } & Pick<Tally, 'measure'> {
  const tally = createTally();
  const add = rule.kind === 'calls' ? addCalls(rule, tally) : addTransactions(rule, tally);
  return { add, measure: tally.measure };
}

/** 0x hex as the services send it, without the 0x. */
const keyOf = (hex: string): string => hex.slice(2);

function addTransactions(rule: TransactionsRule, tally: Tally): (tx: TxActivity) => void {
  const types = new Set(rule.msg_types);
  return ({ code, gas_used, msgs, signers }) => {
    if (rule.only_successful && code !== 0) return;
    if (types.size > 0 && !msgs.some((type) => types.has(type))) return;
    const value = rule.kind === 'gas_used' ? BigInt(gas_used) : 1n;
    for (const signer of rule.signers === 'first' ? signers.slice(0, 1) : signers)
      tally.add(keyOf(signer), value);
  };
}

function addCalls(rule: CallsRule, tally: Tally): (tx: TxActivity) => void {
  const [contracts, selectors] = [new Set(rule.contracts), new Set(rule.selectors)];
  return ({ code, calls }) => {
    if (rule.only_successful && code !== 0) return;
    for (const { from, to, selector } of calls) {
      if (contracts.size > 0 && !contracts.has(keyOf(to))) continue;
      if (selectors.size > 0 && !selectors.has(selector)) continue;
      tally.add(keyOf(from), 1n);
    }
  };
}

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

/** A balance after a block that touched it. */
export interface BalanceChange {
  readonly height: number;
  readonly amount: bigint;
  /** A correction by the node's own answer: nothing was moved. */
  readonly is_heal: boolean;
}

/** All that is known of one account's balance in a window. */
export interface BalanceHistory {
  /** What it held before the first change. */
  readonly opening: bigint;
  /** In the order of the chain. */
  readonly changes: readonly BalanceChange[];
}

/** What an account moved: the sum of what its balance changed by, from block to block. */
export function volumeOf({ direction }: VolumeRule, { opening, changes }: BalanceHistory): bigint {
  let [volume, balance] = [0n, opening];
  for (const { amount, is_heal } of changes) {
    const change = amount - balance;
    balance = amount;
    if (is_heal) continue;
    if (change > 0n && direction !== 'sent') volume += change;
    if (change < 0n && direction !== 'received') volume -= change;
  }
  return volume;
}

/**
 * What an account held: at the end, or the sum of balance times nanoseconds over the stage.
 *
 * @param opened since when it held the opening balance.
 */
export function holdingOf(
  { at }: HoldingsRule,
  { opening, changes }: BalanceHistory,
  opened: bigint,
  clock: Clock,
): bigint {
  if (at === 'end') return changes.at(-1)?.amount ?? opening;
  const weighing = weigh(clock);
  weighing.set(opened, opening);
  for (const { height, amount } of changes) weighing.set(clock.timeOf(height), amount);
  return weighing.total();
}

/** When blocks were made, and when the stage begins and ends; nanoseconds since the epoch. */
export interface Clock {
  readonly start: bigint;
  /** The first instant after the stage. */
  readonly end: bigint;
  /** Time of a block of the window. @throws RangeError for any other. */
  timeOf(height: number): bigint;
}

/** Makes a clock. @param times of the blocks from `first_height` on. */
export function createClock(start: bigint, end: bigint, first_height: number, times: BigInt64Array): Clock {
  return {
    start,
    end,
    timeOf(height) {
      const time = times[height - first_height];
      if (time === undefined) throw new RangeError(`the time of block ${height} is not known`);
      return time;
    },
  };
}

/**
 * Adds up an amount over time. The amounts of one account must come in the order of the chain;
 * what was held when the stage began comes first.
 */
export interface Weighing {
  /** From an instant on the account holds so much. */
  set(time: bigint, amount: bigint): void;
  /** The sum of amount times nanoseconds, up to the end. */
  total(): bigint;
}

/** Starts with nothing held. */
export function weigh({ start, end }: Clock): Weighing {
  let [sum, since, held] = [0n, start, 0n];
  const inside = (time: bigint): bigint => (time < start ? start : time > end ? end : time);
  return {
    set(time, amount) {
      const now = inside(time);
      sum += held * (now - since);
      [since, held] = [now, amount];
    },
    total: () => sum + held * (end - since),
  };
}
