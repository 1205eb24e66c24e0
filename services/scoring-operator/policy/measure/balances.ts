import type { HoldingsRule, VolumeRule } from '../policy.js';
import { type Clock, weigh } from './clock.js';

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
