import { type AccountKey, parseAccount, toHex } from '../../common/chain/address.js';
import { invalidArgument } from '../../common/runtime/errors.js';
import {
  type Computation,
  cappedOf,
  compute,
  fittedAmount,
  type NoScore,
  type Steps,
  sumOf,
} from './compute.js';
import { type Points, pointsOf, type RulePoints, showFraction, showWhole } from './points.js';
import type { Facts, Policy, Rule, SourceProof } from './policy.js';
import type { Reason } from './result.js';

/**
 * Why an address has the score that it has: what every rule measured and gave, and what the
 * exclusions, the minimum, the cap and fit_total made of it. The last amount is the score.
 *
 * @param facts what was measured of the address, at least.
 * @param address bech32 or hex.
 * @param sum of all scores before fit_total, see `sumOf`; it matters for fit_total alone.
 * @throws RpcError INVALID_ARGUMENT when that is no address.
 */
export function explain(
  policy: Policy,
  facts: Facts,
  address: string,
  account_prefix: string,
  sum = sumOf(policy, facts),
): Reason[] {
  const account = parseAccount(address, account_prefix);
  if (account === undefined)
    throw invalidArgument(`${JSON.stringify(address.slice(0, 100))} is neither bech32 nor 0x hex`);
  if (account.length !== 40)
    return [{ rule: 'no_score', text: `${toHex(account)} has 32 bytes: a score needs 20`, amount: 0n }];
  const points = pointsOf(policy, facts);
  const step = cappedOf(policy, account, points.total(account) / points.denominator);
  const amount = fittedAmount(policy, step.capped, sum);
  return [...ruleReasons(points, account), ...endReasons(policy, { ...step, amount }, sum)];
}

function ruleReasons(points: Points, account: AccountKey): Reason[] {
  let sum = 0n;
  return points.of(account).map((of) => {
    sum += of.points;
    return { rule: of.rule.name, text: ruleText(of, points.denominator), amount: sum / points.denominator };
  });
}

function ruleText({ rule, measured, measure, raw, points }: RulePoints, denominator: bigint): string {
  const measuredText = `${showFraction(measured, measure.denominator)} ${unitOf(rule)}`;
  if (measured === 0n) return measuredText;
  const { weight, divisor, minimum, cap } = rule;
  const weightText = showFraction(weight.numerator, weight.denominator);
  const divisorText = showFraction(divisor.numerator, divisor.denominator);
  const factors = `${weightText === '1' ? '' : ` × ${weightText}`}${divisorText === '1' ? '' : ` ÷ ${divisorText}`}`;
  const given = `${measuredText}${factors} = ${showFraction(raw, denominator)} points`;
  if (minimum !== undefined && points < raw && points === 0n)
    return `${given}, which is below the rule's minimum of ${showFraction(minimum.numerator, minimum.denominator)}`;
  if (cap !== undefined && points < raw)
    return `${given}, cut to the rule's cap of ${showFraction(cap.numerator, cap.denominator)}`;
  return given;
}

/** What a rule counts. */
function unitOf(rule: Rule): string {
  const average = ' on average over the stage';
  switch (rule.kind) {
    case 'transactions':
      return rule.only_successful ? 'successful transactions' : 'transactions';
    case 'gas_used':
      return 'gas used';
    case 'calls':
      return rule.only_successful ? 'successful calls' : 'calls';
    case 'volume':
      return `of ${rule.denom} ${rule.direction === 'both' ? 'sent and received' : rule.direction}, net per block`;
    case 'holdings':
      return `of ${rule.denom} held${rule.at === 'end' ? ' at the end' : average}`;
    case 'nfts':
      return `NFTs of ${toHex(rule.collection)} held${rule.at === 'end' ? ' at the end' : average}`;
    case 'source':
      return `given by ${rule.location}`;
  }
}

function endReasons(policy: Policy, steps: Steps, sum: bigint): Reason[] {
  const { whole, none, capped, amount } = steps;
  const reasons: Reason[] = [
    { rule: 'total', text: `the points of all rules, rounded down: ${showWhole(whole)}`, amount: whole },
  ];
  if (none !== undefined) return [...reasons, { ...noScore(policy, none, whole), amount: 0n }];
  if (capped < whole)
    reasons.push({ rule: 'cap', text: `cut to the cap of ${showWhole(capped)}`, amount: capped });
  if (amount < capped)
    reasons.push({
      rule: 'fit_total',
      text: `× ${showWhole(policy.fit_total ?? 0n)} ÷ ${showWhole(sum)}, because all scores add up to the latter`,
      amount,
    });
  return reasons;
}

function noScore({ minimum }: Policy, none: NoScore, whole: bigint): Omit<Reason, 'amount'> {
  switch (none) {
    case 'excluded':
      return { rule: 'excluded', text: 'the policy excludes this address' };
    case 'zero_address':
      return { rule: 'no_score', text: 'the zero address has no score' };
    case 'below_one':
      return { rule: 'no_score', text: 'less than one point is no score' };
    case 'below_minimum':
      return {
        rule: 'minimum',
        text: `${showWhole(whole)} is below the minimum of ${showWhole(minimum ?? 0n)}`,
      };
  }
}

/** What became of the accounts of a run, in numbers. */
export interface RunSummary {
  /** Hash of the policy. */
  readonly policy_hash: string;
  /** Accounts with a score, and what they add up to. */
  readonly scored: number;
  readonly total: bigint;
  /** Accounts without a score, by why. */
  readonly without: Readonly<Record<NoScore, number>>;
  /** Accounts that the cap, and fit_total, made less of. */
  readonly capped: number;
  readonly fitted: number;
  readonly rules: readonly RuleSummary[];
}

/** What one rule found. */
export interface RuleSummary {
  readonly name: string;
  readonly kind: string;
  /** Accounts of 20 bytes with a value. */
  readonly accounts: number;
  /** Accounts of 32 bytes with a value, which count for nothing. */
  readonly left_out: number;
  readonly source?: SourceProof;
}

/**
 * Describes a run as a whole. Pure.
 *
 * @param computation what the policy makes of the facts, where it was computed already.
 * @throws ScoringError as computeScores.
 */
export function describeRun(
  policy: Policy,
  facts: Facts,
  computation: Computation = compute(policy, facts),
): RunSummary {
  const { steps, list } = computation;
  const count = (none: NoScore): number => steps.filter((step) => step.none === none).length;
  return {
    policy_hash: policy.hash,
    scored: list.scores.length,
    total: list.total,
    without: {
      excluded: count('excluded'),
      zero_address: count('zero_address'),
      below_one: count('below_one'),
      below_minimum: count('below_minimum'),
    },
    capped: steps.filter(({ none, whole, capped }) => none === undefined && capped < whole).length,
    fitted: steps.filter(({ capped, amount }) => amount < capped).length,
    rules: policy.rules.map(({ name, kind }) => {
      const measure = facts.measures.get(name);
      return {
        name,
        kind,
        accounts: measure?.values.size ?? 0,
        left_out: measure?.left_out ?? 0,
        ...(measure?.source === undefined ? {} : { source: measure.source }),
      };
    }),
  };
}
