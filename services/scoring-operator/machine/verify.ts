import type { ContractStage } from '../contract/contract.js';
import { hashOfScores } from '../policy/list.js';
import type { Score, ScoreList } from '../policy/result.js';
import type { Check } from '../store/rows.js';
import { differences } from './differences.js';

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
