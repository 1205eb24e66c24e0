import type { AccountKey } from '../../common/chain/address.js';
import { ScoringError } from './errors.js';
import type { Facts, Measure } from './facts.js';
import type { Policy, Rule } from './policy.js';
import { lcm, type Rational } from './rational.js';

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
