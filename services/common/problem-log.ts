import type { Log } from './log.js';
import { createOnce } from './lru.js';
import type { Metrics } from './metrics.js';

/** Something of a block that could not be read. */
export interface DecodeProblem {
  /** Which contract or part of the block: the same for everything of its kind. */
  readonly source: string;
  readonly reason: string;
  /** The setting of a bound that was reached. */
  readonly limit?: string;
}

export interface ProblemLogOptions {
  /** The labels of the metric. */
  readonly service: string;
  readonly kind: string;
  /** What the log says. */
  readonly message: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How many kinds of problems are remembered. */
const remembered = 10_000;

/**
 * Counts what could not be read, and logs each kind of problem of each contract once: a
 * contract that emits anything would fill the log otherwise.
 */
export function createProblemLog(
  options: ProblemLogOptions,
): (height: number, problems: readonly DecodeProblem[]) => void {
  const { service, kind, message, log, metrics } = options;
  const isFirst = createOnce(remembered);
  return (height, problems) => {
    for (const { source, reason, limit } of problems) {
      if (limit === undefined) metrics.problems.inc({ service, kind });
      else metrics.limits.inc({ service, limit });
      if (isFirst(`${source} ${reason}`.slice(0, 300)))
        log.warn({ height, source: source.slice(0, 100), reason }, message);
    }
  };
}
