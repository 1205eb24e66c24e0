import { pino } from 'pino';
import { createLru, createOnce } from '../util/lru.js';
import type { Metrics } from './metrics.js';

/** A logger that writes JSON lines; children carry the service and the request id. */
export type Log = pino.Logger;

/** Levels that LOG_LEVEL takes, the most talkative first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * The process's root logger.
 *
 * @param level the least level that is written.
 * @param destination where lines go: a file descriptor or a path; standard output by default.
 */
export function createLog(level: (typeof logLevels)[number], destination: number | string = 1): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: destination, sync: true, mkdir: true }),
  );
}

/**
 * Writes a line unless the same was written a moment ago.
 *
 * @param key what makes two lines the same.
 * @param write writes the line, with the number of those that were left out since the last one.
 */
export type LogSampler = (key: string, write: (left_out: { readonly repeated?: number }) => void) => void;

/** How often the same line is written, and how many different ones are remembered. */
const [every_ms, rememberedLines] = [10_000, 200];

/** Makes a sampler: what clients can cause again and again must not fill the log. */
export function createLogSampler(now: () => number = () => performance.now()): LogSampler {
  const lines = createLru<string, { written_ms: number; repeated: number }>(rememberedLines);
  return (key, write) => {
    const name = key.slice(0, 300);
    const line = lines.get(name);
    if (line !== undefined && now() - line.written_ms < every_ms) {
      line.repeated += 1;
      return;
    }
    lines.set(name, { written_ms: now(), repeated: 0 });
    write(line === undefined || line.repeated === 0 ? {} : { repeated: line.repeated });
  };
}

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
const rememberedProblems = 10_000;

/**
 * Counts what could not be read, and logs each kind of problem of each contract once: a
 * contract that emits anything would fill the log otherwise.
 */
export function createProblemLog(
  options: ProblemLogOptions,
): (height: number, problems: readonly DecodeProblem[]) => void {
  const { service, kind, message, log, metrics } = options;
  const isFirst = createOnce(rememberedProblems);
  return (height, problems) => {
    for (const { source, reason, limit } of problems) {
      if (limit === undefined) metrics.problems.inc({ service, kind });
      else metrics.limits.inc({ service, limit });
      if (isFirst(`${source} ${reason}`.slice(0, 300)))
        log.warn({ height, source: source.slice(0, 100), reason }, message);
    }
  };
}
