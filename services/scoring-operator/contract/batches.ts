import type { Score } from '../policy/result.js';

/** What is known of the gas of updates. */
export interface BatchLimits {
  /** Scores in one tx at most. */
  readonly max_scores: number;
  /** Gas of a tx whatever is in it. */
  readonly base_gas: bigint;
  /** Gas of one score more. */
  readonly gas_per_score: bigint;
  /** Gas that a tx may have, margin included; undefined when no limit is known. */
  readonly gas_limit: bigint | undefined;
  /** Margin on the estimate, in percent. */
  readonly margin_percent: number;
}

/** A guess before anything was measured: a fresh score writes three slots and an event. */
export const guessedGas = { base_gas: 60_000n, gas_per_score: 60_000n } as const;

/** How many scores are expected to go into one tx; at least one. */
export function batchSize(limits: BatchLimits): number {
  const { max_scores, base_gas, gas_per_score, gas_limit, margin_percent } = limits;
  if (gas_limit === undefined || gas_per_score <= 0n) return Math.max(1, max_scores);
  const usable = (gas_limit * 100n) / BigInt(100 + margin_percent) - base_gas;
  const fitting = usable / gas_per_score;
  const bounded = fitting > BigInt(max_scores) ? max_scores : Number(fitting);
  return Math.max(1, bounded);
}

/** Cuts scores into txs, in their order, evenly: no last one that is nearly empty. */
export function planBatches(scores: readonly Score[], limits: BatchLimits): Score[][] {
  if (scores.length === 0) return [];
  const count = Math.ceil(scores.length / batchSize(limits));
  return Array.from({ length: count }, (_, index) =>
    scores.slice(
      Math.floor((index * scores.length) / count),
      Math.floor(((index + 1) * scores.length) / count),
    ),
  );
}

/** Two halves of a batch that was too much; undefined for one score, which cannot be halved. */
export function halve(batch: readonly Score[]): [Score[], Score[]] | undefined {
  if (batch.length < 2) return undefined;
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}
