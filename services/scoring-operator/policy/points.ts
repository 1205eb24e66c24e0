import type { AccountKey } from '../../common/chain/address.js';
import { type Facts, type Measure, type Policy, type Rule, ScoringError } from './policy.js';

/** What one rule gives an account. */
export interface RulePoints {
  readonly rule: Rule;
  /** What was measured, in whole numbers of 1 / `measure.denominator`. */
  readonly measured: bigint;
  readonly measure: Measure;
  /** Points before and after the rule's own minimum and cap, over the common denominator. */
  readonly raw: bigint;
  readonly points: bigint;
}

/** The rules of a policy over facts, with one denominator, so that points are added as whole numbers. */
export interface Points {
  readonly denominator: bigint;
  /** What every rule gives an account, in the order of the policy. */
  of(account: AccountKey): RulePoints[];
  /** Points of an account, over the denominator. */
  total(account: AccountKey): bigint;
  /** Every account that a rule has measured, each once. */
  accounts(): Set<AccountKey>;
}

/** Prepares the points of a policy. @throws ScoringError when a rule was not measured. */
export function pointsOf(policy: Policy, facts: Facts): Points {
  const measured = policy.rules.map((rule) => {
    const measure = facts.measures.get(rule.name);
    if (measure === undefined) throw new ScoringError(`the facts have nothing of the rule ${rule.name}`);
    // value / measure.denominator * weight / divisor
    const numerator = rule.weight.numerator * rule.divisor.denominator;
    const denominator = measure.denominator * rule.weight.denominator * rule.divisor.numerator;
    return { rule, measure, numerator, denominator };
  });
  const bounds = policy.rules.flatMap(({ minimum, cap }) => [minimum, cap]);
  const denominator = [
    ...measured.map((of) => of.denominator),
    ...bounds.map((bound) => bound?.denominator ?? 1n),
  ].reduce(lcm, 1n);
  const over = (bound: Rational | undefined): bigint | undefined =>
    bound && (bound.numerator * denominator) / bound.denominator;
  const prepared = measured.map(({ rule, measure, ...fraction }) => ({
    rule,
    measure,
    factor: (fraction.numerator * denominator) / fraction.denominator,
    minimum: over(rule.minimum),
    cap: over(rule.cap),
  }));

  const bounded = (raw: bigint, { minimum, cap }: (typeof prepared)[number]): bigint => {
    if (minimum !== undefined && raw < minimum) return 0n;
    return cap !== undefined && raw > cap ? cap : raw;
  };
  return {
    denominator,
    of: (account) =>
      prepared.map((of) => {
        const measured = of.measure.values.get(account) ?? 0n;
        const raw = measured * of.factor;
        return { rule: of.rule, measured, measure: of.measure, raw, points: bounded(raw, of) };
      }),
    total(account) {
      let sum = 0n;
      for (const of of prepared) {
        const value = of.measure.values.get(account);
        if (value !== undefined) sum += bounded(value * of.factor, of);
      }
      return sum;
    },
    accounts() {
      const accounts = new Set<AccountKey>();
      for (const { measure } of prepared) for (const account of measure.values.keys()) accounts.add(account);
      return accounts;
    },
  };
}

/** An exact number that is not negative. */
export interface Rational {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

/** The number of a whole or decimal text such as 12 or 0.25. @throws RangeError for anything else. */
export function parseDecimal(text: string): Rational {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new RangeError(`${JSON.stringify(text)} is no decimal number`);
  const fraction = match[2] ?? '';
  return reduce(BigInt(`${match[1]}${fraction}`), 10n ** BigInt(fraction.length));
}

/** A fraction in lowest terms. */
export function reduce(numerator: bigint, denominator: bigint): Rational {
  const divisor = gcd(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** The least number that both divide. */
export const lcm = (a: bigint, b: bigint): bigint => (a / gcd(a, b)) * b;

function gcd(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

/** Digits after the point that people are shown. */
const digitsShown = 6;

/** A fraction for people: thousands apart, cut after six decimals, with ≈ in front when it is cut. */
export function showFraction(numerator: bigint, denominator: bigint): string {
  const scaled = (numerator * 10n ** BigInt(digitsShown)) / denominator;
  const isExact = scaled * denominator === numerator * 10n ** BigInt(digitsShown);
  const digits = scaled.toString().padStart(digitsShown + 1, '0');
  const fraction = digits.slice(-digitsShown).replace(/0+$/, '');
  const whole = showWhole(BigInt(digits.slice(0, -digitsShown)));
  return `${isExact ? '' : '≈'}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A whole number for people: 1250 is 1,250. */
export const showWhole = (value: bigint): string => value.toString().replace(/\B(?=(\d{3})+$)/g, ',');
