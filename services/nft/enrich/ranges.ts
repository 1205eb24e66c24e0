import type { Database } from '../../common/clickhouse/database.js';
import type { DecodeProblem } from '../../common/runtime/log.js';
import { createLru } from '../../common/util/lru.js';
import type { Job } from '../store/details.js';
import type { Tables } from '../store/tables.js';
import { compareBytes } from '../token-key.js';
import { jobDone, jobNow } from './outcome.js';
import { readPendingRanges } from './queue.js';
import type { Task } from './work.js';

/*
 * A contract asks for the uris of a range of its tokens with one log (ERC-4906), and a tx can have thousands of them. So
 * ranges of a collection are asked about together: one pass goes through its tokens at a time, what comes meanwhile waits
 * as one range, and the next pass begins after a pause. A pass is a job that is due at once (`next_ms` is 0); a range that
 * waits is a job with a time.
 */

export interface RangeOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly now: () => number;
  /** How long the next pass over a collection waits after the one before, in milliseconds. */
  readonly refresh_ms: number;
  /** Takes what has to wait. */
  readonly report: (problem: DecodeProblem) => void;
}

/** What becomes of ranges: those to ask about now, at most one of a collection, and jobs to write. */
export interface PlannedRanges {
  readonly due: Task[];
  readonly jobs: Job[];
}

/** Plans passes over the ranges of tokens that are asked for. */
export interface RangePlanner {
  /** @param areJobs whether the ranges are jobs that are due, or asks of the chain. */
  plan(ranges: readonly Task[], areJobs: boolean): Promise<PlannedRanges>;
}

/** Collections whose last pass is remembered; of others the next one begins at once. */
const remembered = 10_000;

export function createRangePlanner(options: RangeOptions): RangePlanner {
  const { database, tables, now, refresh_ms, report } = options;
  /** When a collection was asked about last, in milliseconds. */
  const passes = createLru<string, number>(remembered);

  const planOne = (collection: string, ranges: readonly Task[], areJobs: boolean, pending: Job[]) => {
    const running = pending.filter(({ next_ms }) => next_ms === 0);
    const waiting = pending.filter(({ next_ms }) => next_ms > 0);
    const mayBegin = running.length === 0 && (areJobs || (passes.get(collection) ?? 0) + refresh_ms <= now());
    if (running.length > 0 ? areJobs : mayBegin) {
      passes.set(collection, now());
      const begun = running.length > 0 ? running : [...ranges, ...waiting];
      return { due: united(begun), jobs: begun.map(jobDone) };
    }
    if (running.length > 0 || refresh_ms > 0)
      report({
        source: collection,
        reason: 'ranges of its tokens are asked about together, with a pause (NFT_REFRESH_MS)',
        limit: 'NFT_REFRESH_MS',
      });
    const next_ms = Math.max(now() + 1, waiting[0]?.next_ms ?? now() + refresh_ms);
    const later = united(areJobs ? waiting : [...ranges, ...waiting]);
    return { due: undefined, jobs: [...waiting.map(jobDone), { ...jobNow(later), next_ms }] };
  };

  return {
    async plan(ranges, areJobs) {
      const planned: PlannedRanges = { due: [], jobs: [] };
      if (ranges.length === 0) return planned;
      const collections = [...new Set(ranges.map(({ collection }) => collection))];
      const pending = await readPendingRanges(database, tables, collections);
      for (const collection of collections) {
        const isOf = (task: Task): boolean => task.collection === collection;
        const { due, jobs } = planOne(collection, ranges.filter(isOf), areJobs, pending.filter(isOf));
        if (due !== undefined) planned.due.push(due);
        for (const job of jobs) planned.jobs.push(job);
      }
      return planned;
    },
  };
}

/** One range from the first key of several to the last one; the newest of them says for which position. */
function united(ranges: readonly Task[]): Task {
  const [first, ...others] = ranges;
  if (first === undefined) throw new Error('there is no range');
  const { at, subject, collection, first_key, last_key } = first;
  const whole = { at, subject, collection, first_key, last_key };
  for (const range of others) {
    whole.at = Math.max(whole.at, range.at);
    if (compareBytes(range.first_key, whole.first_key) < 0) whole.first_key = range.first_key;
    if (compareBytes(range.last_key, whole.last_key) > 0) whole.last_key = range.last_key;
  }
  return whole;
}
