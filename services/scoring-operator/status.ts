import type { Metrics } from '../common/runtime/metrics.js';
import { describe, type Step } from './machine/run.js';
import type { ScoringGauges } from './metrics.js';

/** What is known of the last look. */
export interface Status {
  readonly step: Step | undefined;
  /** Unix milliseconds; 0 before the first look. */
  readonly at: number;
  /** Failures in a row. */
  readonly failures: number;
  /** Why the tables could not be used; '' when they could. */
  readonly trouble: string;
}

/** Keeps the last look for whoever asks, and sets the gauges by it. */
export interface StatusKeeper {
  readonly status: Status;
  onStep(step: Step): void;
  onFailure(message: string): void;
}

/** Starts with nothing. */
export function keepStatus(gauges: ScoringGauges, metrics: Metrics): StatusKeeper {
  let status: Status = { step: undefined, at: 0, failures: 0, trouble: '' };
  const fail = (kind: string): void => {
    metrics.problems.inc({ service: 'scoring', kind });
    gauges.failures.set(status.failures);
  };
  return {
    get status() {
      return status;
    },
    onStep(step) {
      const failures = step.error === undefined ? 0 : status.failures + 1;
      status = { step, at: Date.now(), failures, trouble: '' };
      gauges.show(step);
      gauges.failures.set(failures);
      if (step.error !== undefined) fail(describe(step.decision).kind);
    },
    onFailure(message) {
      status = { ...status, failures: status.failures + 1, trouble: message };
      fail('tables');
    },
  };
}
