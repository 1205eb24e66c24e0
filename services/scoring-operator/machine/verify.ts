import type { ContractStage } from '../contract/contract.js';
import { hashOfScores, type Score, type ScoreList, type ScoreWindow } from '../policy/result.js';
import type { Check } from '../store/rows.js';

/** A comparison of what the contract has with what it shall have. */
export type Comparison = Pick<Check, 'name' | 'is_ok' | 'expected' | 'found'>;

/** Compares what was read back with the list: every score, how many, the sum, and that there are no others. */
export function compare(
  list: ScoreList,
  found: readonly Score[],
  stage: ContractStage | undefined,
): Comparison[] {
  const scored = found
    .filter(({ amount }) => amount > 0n)
    .map(({ address, amount }) => ({ address: address.toLowerCase(), amount }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  const strays = differences(list.scores, found).filter(({ amount }) => amount === 0n).length;
  const check = (name: string, expected: unknown, actual: unknown): Comparison => ({
    name,
    is_ok: String(expected) === String(actual),
    expected: String(expected),
    found: String(actual),
  });
  return [
    check('strays', 0, strays),
    check('count', list.scores.length, scored.length),
    check('scores', list.hash, hashOfScores(scored)),
    check('total', list.total, stage?.total_score ?? 0n),
  ];
}

/** The comparisons as they are kept. */
export function toChecks(
  comparisons: readonly Comparison[],
  stage: bigint,
  list_hash: string,
  at: number,
): Check[] {
  return comparisons.map((comparison) => ({ ...comparison, stage, list_hash, at }));
}

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
