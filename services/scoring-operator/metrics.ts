import { Gauge } from 'prom-client';
import type { Metrics } from '../common/runtime/metrics.js';
import { describe, type Step } from './machine/run.js';

/** Gauges that alerts are made of. */
export interface ScoringGauges {
  readonly failures: Gauge;
  /** Sets the others by what was seen and decided. */
  show(step: Step): void;
}

/** The gauges of one program, in the registry of the process. */
export function createScoringGauges(metrics: Metrics): ScoringGauges {
  const registers = [metrics.registry];
  const gauge = <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name: `weft_scoring_${name}`, help, labelNames, registers });
  const stage = gauge('l1_stage', 'Stage that the L1 names');
  const scored = gauge('last_scored_stage', 'Last stage whose scores were read back');
  const finalized = gauge('last_finalized_stage', 'Last stage that is finalized');
  const deadline = gauge(
    'stage_deadline_seconds',
    'Seconds by the time of the L1 until the end of the running stage; below 0 when it is past',
  );
  const overdue = gauge('open_stages_over', 'Stages that are over by the L1 and not finalized');
  const l1Time = gauge('l1_time_seconds', 'Time of the newest block of the L1, unix seconds');
  const index = gauge('index_height', 'Height up to which everything that the policy reads is indexed');
  const decision = gauge('decision', 'What the last look came to', 'kind', 'reason');
  return {
    failures: gauge('failures', 'Failures in a row'),
    show(step) {
      const { l1, contract, runs, indexer } = step.observation;
      if (!('error' in l1)) {
        stage.set(Number(l1.stage));
        deadline.set(l1.stage_end_time - l1.l1_time);
        l1Time.set(l1.l1_time);
      }
      if (!('error' in indexer)) index.set(indexer.height);
      const verified = runs.filter((run) => run.is_verified || run.is_finalized).at(-1);
      if (verified !== undefined) scored.set(Number(verified.stage));
      if (!('error' in contract)) {
        const done = contract.stages.filter((one) => one.is_finalized).at(-1);
        if (done !== undefined) finalized.set(Number(done.stage));
        const open = contract.stages.find((one) => !one.is_finalized);
        if (open !== undefined && !('error' in l1)) {
          const isPast = l1.l1_time >= l1.stage_end_time ? 1 : 0;
          overdue.set(Math.max(0, Number(l1.stage - open.stage) + isPast));
        }
      }
      const { kind, reason } = describe(step.decision);
      decision.reset();
      decision.set({ kind, reason }, 1);
    },
  };
}
