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
  // Strays first: on contracts that wrap, the sum never passes what it is at the end.
  return [...strays, ...list.filter(({ address, amount }) => (has.get(address) ?? 0n) !== amount)];
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
