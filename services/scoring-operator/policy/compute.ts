import { type AccountKey, toHex } from '../../common/chain/address.js';
import { pointsOf, showWhole } from './points.js';
import { type Facts, largestTotal, type Policy, ScoringError } from './policy.js';
import { hashOfScores, type ScoreList } from './result.js';

/** Contracts skip it, and then their total is another one. */
export const zeroAccount: AccountKey = '0'.repeat(40);

/** Why an account that a rule has measured has no score. */
export type NoScore = 'excluded' | 'zero_address' | 'below_one' | 'below_minimum';

/** How an account's points become its score, step by step. */
export interface Steps {
  readonly account: AccountKey;
  /** Points, rounded down. */
  readonly whole: bigint;
  readonly none: NoScore | undefined;
  /** After the minimum and the cap. */
  readonly capped: bigint;
  /** The score. */
  readonly amount: bigint;
}

/** Everything that becomes of every account that was measured. */
export interface Computation {
  /** Sorted by account. */
  readonly steps: readonly Steps[];
  /** Sum before fit_total. */
  readonly sum: bigint;
  readonly list: ScoreList;
}

/**
 * The scores of a stage. Pure, and the same bit by bit for the same policy and facts, in
 * whatever order those stand.
 *
 * @throws ScoringError when the scores do not fit the contract.
 */
export function computeScores(policy: Policy, facts: Facts): ScoreList {
  return compute(policy, facts).list;
}

/** The scores with how they came to be. @throws ScoringError */
export function compute(policy: Policy, facts: Facts): Computation {
  const capped = cappedSteps(policy, facts);
  const sum = sumOfSteps(capped);
  const steps = capped.map((step) => ({ ...step, amount: fittedAmount(policy, step.capped, sum) }));
  const total = steps.reduce((whole, { amount }) => whole + amount, 0n);
  if (total > largestTotal) throw new ScoringError(tooLarge(policy, total));
  const scores = steps
    .filter(({ amount }) => amount > 0n)
    .map(({ account, amount }) => ({ address: toHex(account), amount }));
  return { steps, sum, list: { scores, total, hash: hashOfScores(scores) } };
}

type CappedSteps = Omit<Steps, 'amount'>;

/** What becomes of every account before fit_total, sorted by account. */
function cappedSteps(policy: Policy, facts: Facts): CappedSteps[] {
  const points = pointsOf(policy, facts);
  return [...points.accounts()]
    .sort()
    .map((account) => cappedOf(policy, account, points.total(account) / points.denominator));
}

const sumOfSteps = (steps: readonly CappedSteps[]): bigint =>
  steps.reduce((total, { capped }) => total + capped, 0n);

/** The sum of scores before fit_total. Those of parts of the accounts add up to that of all. */
export const sumOf = (policy: Policy, facts: Facts): bigint => sumOfSteps(cappedSteps(policy, facts));

/** What exclusions, the minimum and the cap make of an account's whole points. */
export function cappedOf(policy: Policy, account: AccountKey, whole: bigint): CappedSteps {
  const none = ((): NoScore | undefined => {
    if (policy.exclude.has(account)) return 'excluded';
    if (account === zeroAccount) return 'zero_address';
    if (whole === 0n) return 'below_one';
    return policy.minimum !== undefined && whole < policy.minimum ? 'below_minimum' : undefined;
  })();
  if (none !== undefined) return { account, whole, none, capped: 0n };
  return {
    account,
    whole,
    none,
    capped: policy.cap !== undefined && whole > policy.cap ? policy.cap : whole,
  };
}

/** What fit_total makes of an amount when all add up to the sum. */
export function fittedAmount({ fit_total }: Policy, amount: bigint, sum: bigint): bigint {
  return fit_total === undefined || sum <= fit_total ? amount : (amount * fit_total) / sum;
}

function tooLarge({ cap }: Policy, total: bigint): string {
  const now = cap === undefined ? 'the policy has no cap' : `cap is ${showWhole(cap)}`;
  return `the scores add up to ${showWhole(total)}, and a contract holds at most ${showWhole(largestTotal)} (2^64-1): ${now}; set a lower cap, larger divisors, or fit_total`;
}
