import { type AccountKey, parseAccount, toHex } from '../../common/chain/address.js';
import { invalidArgument } from '../../common/errors.js';
import { cappedOf, fittedAmount, type NoScore, type Steps, sumOf } from './compute.js';
import type { Facts } from './facts.js';
import { type Points, pointsOf, type RulePoints } from './points.js';
import type { Policy, Rule } from './policy.js';
import { showFraction, showWhole } from './rational.js';
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
