import { parsePolicy } from '../../services/scoring-operator/policy/parse.js';
import type { Facts, Measure, Policy } from '../../services/scoring-operator/policy/policy.js';

/** A policy of these rules; `folder` is where the files of its sources lie. */
export function policyWith(rules: readonly object[], more: object = {}, folder = '.'): Policy {
  const text = JSON.stringify({ version: 1, name: 'p', rules, ...more });
  return parsePolicy(text, { from: 'p', account_prefix: 'init', folder });
}

/** A fraction that is never reduced: slow, and hard to get wrong. */
export type Fraction = readonly [numerator: bigint, denominator: bigint];

const add = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
const times = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * c, b * d];
const over = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d, b * c];
const isLess = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d < c * b;
const floor = ([a, b]: Fraction): bigint => a / b;
const of = (value: { numerator: bigint; denominator: bigint }): Fraction => [
  value.numerator,
  value.denominator,
];

/** The scores of a policy, worked out address by address with fractions. */
export function modelScores(policy: Policy, facts: Facts): Map<string, bigint> {
  const accounts = new Set([...facts.measures.values()].flatMap(({ values }) => [...values.keys()]));
  const scores = new Map<string, bigint>();
  for (const account of accounts) {
    let points: Fraction = [0n, 1n];
    for (const rule of policy.rules) {
      const { values, denominator } = facts.measures.get(rule.name) as Measure;
      let own = over(times([values.get(account) ?? 0n, denominator], of(rule.weight)), of(rule.divisor));
      if (rule.minimum !== undefined && isLess(own, of(rule.minimum))) own = [0n, 1n];
      if (rule.cap !== undefined && isLess(of(rule.cap), own)) own = of(rule.cap);
      points = add(points, own);
    }
    let score = floor(points);
    if (policy.minimum !== undefined && score < policy.minimum) score = 0n;
    if (policy.cap !== undefined && score > policy.cap) score = policy.cap;
    if (policy.exclude.has(account) || /^0+$/.test(account)) score = 0n;
    if (score > 0n) scores.set(`0x${account}`, score);
  }
  const sum = [...scores.values()].reduce((total, score) => total + score, 0n);
  if (policy.fit_total === undefined || sum <= policy.fit_total) return scores;
  const { fit_total } = policy;
  const fitted = [...scores].map(([address, score]) => [address, (score * fit_total) / sum] as const);
  return new Map(fitted.filter(([, score]) => score > 0n));
}
