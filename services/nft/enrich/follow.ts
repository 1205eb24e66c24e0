import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { WriterHealth } from '../../common/writer-health.js';
import type { Head } from '../read/head.js';
import { type Reader, startReading } from '../read/reader.js';
import { readAsked } from '../store/details.js';
import { endOf, heightOf } from '../store/place.js';
import type { NftStore } from '../store/store.js';
import { isUntried } from './policy.js';
import { readAsks, readDueJobs, readNextDue } from './queue.js';
import { type Task, type Worked, type WorkOptions, workOff } from './work.js';

export interface FollowOptions extends WorkOptions {
  readonly store: NftStore;
  readonly head: Head;
  readonly reader: Reader;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: WriterHealth;
  /**
   * Told up to which height everything has been asked for at least once.
   *
   * @param generation the store's, at which that was so.
   */
  readonly onAsked?: ((height: number, generation: number) => void) | undefined;
}

/** What fails, as it is told. */
const learning = 'writing names and uris';

/** Tasks that are worked off together. */
const tasksAtOnce = 500;

/** Waits while the node is away, in milliseconds: they grow from the first to the last. */
const waits_ms = [200, 1_000, 5_000, 15_000];

/** Longest wait for the next job, in milliseconds. */
const longestWait_ms = 30_000;

/**
 * Asks the node for names and uris beside the blocks, until the signal: what the blocks made
 * us ask for in order, and what was not answered again later. Both stand in tables, so that
 * a restart goes on where this stopped.
 */
export async function followDetails(options: FollowOptions): Promise<void> {
  const { signal, log, metrics, health, head, now } = options;
  const progress: Progress = { generation: -1, revision: -1, asked: 0, due: 0 };
  for (let failures = 0; !signal.aborted; ) {
    try {
      const rung = head.bell.count;
      const state = await workOnce(options, progress);
      if (state === 'away') {
        metrics.problems.inc({ service: 'nft', kind: 'details_away' });
        await sleep(waits_ms[Math.min(failures, waits_ms.length - 1)] as number, signal);
        failures += 1;
        continue;
      }
      failures = 0;
      health.succeeded(learning);
      if (state === 'worked') continue;
      const wait = Math.min(longestWait_ms, progress.due - now());
      if (wait > 0) await head.bell.heard(rung, signal, wait);
    } catch (error) {
      if (signal.aborted) return;
      progress.generation = -1;
      metrics.problems.inc({ service: 'nft', kind: 'details' });
      health.failed(learning, error);
      log.warn({ err: error }, `details could not be learnt: ${messageOf(error)}`);
      await sleep(waits_ms[Math.min(failures, waits_ms.length - 1)] as number, signal);
      failures += 1;
    }
  }
}

/** What is remembered of the tables, so that a new block costs one look. */
interface Progress {
  /** The store's generation that it belongs to. */
  generation: number;
  /** The head's revision when the jobs were looked at: others may have added some since. */
  revision: number;
  /** Asks up to this place are worked off. */
  asked: number;
  /** When the next job is due, in milliseconds since the epoch. */
  due: number;
}

/** Works off the next asks, then the jobs that are due. */
async function workOnce(options: FollowOptions, progress: Progress): Promise<'idle' | 'worked' | 'away'> {
  const { database, tables, store, head, now } = options;
  const { generation } = store;
  if (progress.generation !== generation)
    Object.assign(progress, { generation, asked: await readAsked(database, tables), due: 0 });
  if (progress.revision !== head.revision) Object.assign(progress, { revision: head.revision, due: 0 });
  const end = endOf(head.position.height);
  const asks =
    end <= progress.asked ? [] : await readAsks(database, tables, progress.asked, end, tasksAtOnce);
  const last = asks.at(-1);
  const areJobs = last === undefined;
  if (areJobs && progress.due > now()) {
    options.onAsked?.(heightOf(end), generation);
    return 'idle';
  }
  const tasks = areJobs ? await readDueJobs(database, tables, now(), tasksAtOnce) : asks;
  // Jobs that nobody has tried yet are the first that are due.
  if (areJobs && !tasks.some(isUntried)) options.onAsked?.(heightOf(end), generation);
  if (tasks.length === 0) {
    progress.due = (await readNextDue(database, tables)) ?? Number.POSITIVE_INFINITY;
    return 'idle';
  }
  const worked = await work(options, tasks, areJobs);
  if (worked.isAway) return 'away';
  const asked = last?.at ?? progress.asked;
  const isKept = await store.writeDetails({ ...worked.details, asked }, generation);
  if (isKept) Object.assign(progress, { asked, due: 0 });
  return 'worked';
}

async function work(options: FollowOptions, tasks: readonly Task[], areJobs: boolean): Promise<Worked> {
  const { log, metrics } = options;
  const reading = startReading(options.reader, {});
  const worked = await workOff(options, tasks, areJobs, reading);
  for (const { state, collection, first_key, error } of worked.details.jobs) {
    if (state === 'done' || error === '') continue;
    metrics.problems.inc({ service: 'nft', kind: state === 'failed' ? 'details_failed' : 'details_retried' });
    const about = { collection, token: first_key.slice(0, 100), reason: error };
    if (state === 'failed') log.info(about, 'a detail was given up: the node refuses it');
    else log.debug(about, 'a detail will be asked for again');
  }
  return worked;
}
