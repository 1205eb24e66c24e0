import { messageOf } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { WriterHealth } from '../../common/writer/health.js';
import { type Reader, startReading } from '../read/reader.js';
import type { Head } from '../store/cursor.js';
import { type Job, noDetails, notTrying, readAsked, type Trying } from '../store/details.js';
import type { NftStore } from '../store/store.js';
import { endOf, heightOf } from '../store/token.js';
import { isUntried, jobFatal } from './outcome.js';
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
   * @param generation the store's revision, at which that was so.
   */
  readonly onAsked?: ((height: number, generation: number) => void) | undefined;
}

/** What fails, as it is told. */
const learning = 'writing names and uris';

/** Tasks that are worked off together: fewer where their uris could have more bytes than that. */
const [tasksAtOnce, bytesAtOnce] = [500, 16 * 1024 * 1024];

const mostTasks = ({ limits }: FollowOptions): number =>
  Math.max(1, Math.min(tasksAtOnce, Math.floor(bytesAtOnce / limits.NFT_URI_BYTES)));

/** How often a process may end while a task is tried alone, before the task is given up: once may be for another reason. */
const mostDeaths = 2;

/** Waits while the node is away, in milliseconds: they grow from the first to the last. */
const waits_ms = [200, 1_000, 5_000, 15_000] as const;

/** Longest wait for the next job, in milliseconds. */
const longestWait_ms = 30_000;

/**
 * Asks the node for names and uris beside the blocks, until the signal: what the blocks made
 * us ask for in order, and what was not answered again later. Both stand in tables, so that
 * a restart goes on where this stopped.
 */
export async function followDetails(options: FollowOptions): Promise<void> {
  const { signal, log, metrics, health, head, now } = options;
  const progress: Progress = { generation: -1, revision: -1, asked: 0, due: 0, left: undefined };
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
  /** The store's revision that it belongs to. */
  generation: number;
  /** The head's revision when the jobs were looked at: others may have added some since. */
  revision: number;
  /** Asks up to this place are worked off. */
  asked: number;
  /** When the next job is due, in milliseconds since the epoch. */
  due: number;
  /** What the process before this one was asking when it ended; undefined until that is read. */
  left: Trying | undefined;
}

/** Works off the next asks, then the jobs that are due. */
async function workOnce(options: FollowOptions, progress: Progress): Promise<'idle' | 'worked' | 'away'> {
  const { database, tables, store, head, now } = options;
  const { revision: generation } = store;
  if (progress.generation !== generation) {
    const { at: asked, ...trying } = await readAsked(database, tables);
    // What this process itself was asking when something failed has not ended it.
    if (progress.left === undefined && (asked < trying.trying_asks || trying.trying_jobs > 0))
      options.log.warn(
        'the last process ended while it asked for details of NFTs: they are asked for one at a time',
      );
    Object.assign(progress, { generation, asked, due: 0, left: progress.left ?? trying });
  }
  if (progress.revision !== head.revision) Object.assign(progress, { revision: head.revision, due: 0 });
  const left = progress.left ?? notTrying;
  const end = endOf(head.position.height);
  const asksAtOnce = progress.asked < left.trying_asks ? 1 : mostTasks(options);
  const asks = end <= progress.asked ? [] : await readAsks(database, tables, progress.asked, end, asksAtOnce);
  const last = asks.at(-1);
  const areJobs = last === undefined;
  if (areJobs && progress.due > now()) {
    options.onAsked?.(heightOf(end), generation);
    return 'idle';
  }
  const tasks = areJobs ? await readDue(options, left) : asks;
  // Jobs that nobody has tried yet are the first that are due.
  if (areJobs && !tasks.some(isUntried)) options.onAsked?.(heightOf(end), generation);
  if (tasks.length === 0) {
    progress.due = (await readNextDue(database, tables)) ?? Number.POSITIVE_INFINITY;
    return 'idle';
  }
  const trying = tryingOf(tasks, areJobs, left);
  const asked = last?.at ?? progress.asked;
  if (trying.deaths > mostDeaths) {
    progress.left = notTrying;
    return giveUp(options, progress, tasks, asked);
  }
  if (!(await store.writeDetails({ ...noDetails, asked: progress.asked, trying }, generation))) {
    await sleep(waits_ms[0], options.signal); // the tables are being recovered
    return 'worked';
  }
  // What fails from here on fails in this process, which knows that it has not ended.
  progress.left = { ...left, deaths: 0 };
  const worked = await work(options, tasks, areJobs);
  if (worked.isAway) {
    // A process that ends while the node is away has not died of what it would have said.
    await store.writeDetails({ ...noDetails, asked: progress.asked, trying: progress.left }, generation);
    return 'away';
  }
  const isKept = await store.writeDetails({ ...worked.details, asked }, generation);
  if (isKept) Object.assign(progress, { asked, due: 0 });
  return 'worked';
}

/** Jobs that are due; one at a time of those that a process has ended with. */
async function readDue(options: FollowOptions, { trying_jobs }: Trying): Promise<Job[]> {
  const { database, tables, now } = options;
  const [first] = trying_jobs === 0 ? [] : await readDueJobs(database, tables, now(), 1);
  if (first !== undefined && first.next_ms <= trying_jobs) return [first];
  return readDueJobs(database, tables, now(), mostTasks(options));
}

/** What is written down before tasks are worked off. */
function tryingOf(
  tasks: readonly (Task & { readonly next_ms?: number })[],
  areJobs: boolean,
  left: Trying,
): Trying {
  const last = tasks.at(-1);
  const trying_asks = areJobs ? 0 : (last?.at ?? 0);
  const trying_jobs = areJobs ? (last?.next_ms ?? 0) : 0;
  const isLeft = areJobs ? trying_jobs <= left.trying_jobs : trying_asks <= left.trying_asks;
  if (!isLeft) return { trying_asks, trying_jobs, deaths: 0 };
  // Should this process end, too, the rest of what was asked together is still tried alone.
  return {
    trying_asks: areJobs ? 0 : left.trying_asks,
    trying_jobs: areJobs ? left.trying_jobs : 0,
    deaths: left.deaths + 1,
  };
}

/** Gives up tasks that processes have ended with. */
async function giveUp(
  { store, log, metrics }: FollowOptions,
  progress: Progress,
  tasks: readonly Task[],
  asked: number,
): Promise<'worked'> {
  for (const { collection, first_key } of tasks) {
    metrics.problems.inc({ service: 'nft', kind: 'details_failed' });
    log.error(
      { collection, token: first_key.slice(0, 100) },
      'a detail was given up: the process has ended each time it was asked for; `weft retry-details` asks again',
    );
  }
  const details = { ...noDetails, jobs: tasks.map(jobFatal), asked };
  if (await store.writeDetails(details, progress.generation)) Object.assign(progress, { asked, due: 0 });
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
