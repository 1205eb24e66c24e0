import type { Score, ScoreWindow } from '../policy/result.js';

/**
 * What has to be written so that the contract has a list and nothing else: scores that are missing or differ, and a
 * zero for every stray, an address that has a score and is not in the list.
 */
export function differences(list: readonly Score[], found: readonly Score[]): Score[] {
  const has = new Map(found.map(({ address, amount }) => [address.toLowerCase(), amount]));
  const listed = new Set(list.map(({ address }) => address));
  const strays = [...has]
    .filter(([address, amount]) => amount > 0n && !listed.has(address))
    .map(([address]) => ({ address, amount: 0n }));
  const isLess = ({ address, amount }: Score): boolean => amount < (has.get(address) ?? 0n);
  const isMore = ({ address, amount }: Score): boolean => amount > (has.get(address) ?? 0n);
  // What lowers the sum comes first, so that it never passes the larger of what it was and what it will be: a sum above
  // 2^64-1 on the way is refused by strict contracts, for ever.
  return [...strays, ...list.filter(isLess), ...list.filter(isMore)];
}

/** Whether two windows hold the same blocks. */
export function isSame(a: ScoreWindow, b: ScoreWindow): boolean {
  return (
    a.start_time === b.start_time &&
    a.end_time === b.end_time &&
    a.from_height === b.from_height &&
    a.to_height === b.to_height
  );
}
