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

  const of = (account: AccountKey): RulePoints[] =>
    prepared.map(({ rule, measure, factor, minimum, cap }) => {
      const value = measure.values.get(account) ?? 0n;
      const raw = value * factor;
      const enough = minimum === undefined || raw >= minimum ? raw : 0n;
      return {
        rule,
        measured: value,
        measure,
        raw,
        points: cap !== undefined && enough > cap ? cap : enough,
      };
    });
  return {
    denominator,
    of,
    total: (account) => of(account).reduce((sum, { points }) => sum + points, 0n),
    accounts: () => new Set(prepared.flatMap(({ measure }) => [...measure.values.keys()])),
  };
}
