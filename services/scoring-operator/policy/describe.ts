import { type Computation, compute, type NoScore } from './compute.js';
import type { Facts, SourceProof } from './facts.js';
import type { Policy } from './policy.js';

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
