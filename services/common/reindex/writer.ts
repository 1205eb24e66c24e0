import { status } from '@grpc/grpc-js';
import type { Progress } from '../gen/indexer/reindex/v1/reindex.js';
import { invalidArgument, messageOf, notFound, RpcError, TryAgainError } from '../runtime/errors.js';
import { type FaultPoint, sleep } from '../runtime/lifecycle.js';
import { createMutex } from '../util/concurrency.js';
import type { Fence } from '../writer/fence.js';
import type { ComparedPart } from '../writer/views.js';
import {
  dropGeneration,
  type Generations,
  leftovers,
  nextGeneration,
  readGenerations,
  writeGenerations,
} from './generations.js';
import type { InUse } from './in-use.js';
import { type Rebuild, startRebuild } from './rebuild.js';
import type { GenerationTables, ReindexEnvironment } from './tables.js';

export interface WriterOptions<Tables extends GenerationTables> extends ReindexEnvironment<Tables> {
  readonly fault: FaultPoint;
  readonly inUse: InUse<Tables>;
  /** The state that the start found. */
  readonly state: Generations;
  /** Guards everything that is written. */
  readonly fence: Fence;
  /** How long replaced tables stay, in milliseconds: calls that have begun end on them. */
  readonly keep_ms: number;
}

/** What callers can do about rebuilding; see ReindexService. */
export interface Reindexer {
  /** Begins to rebuild. @throws RpcError */
  start(): Promise<void>;
  /** How the rebuild that runs gets on, until its end. @throws RpcError */
  watch(signal: AbortSignal): AsyncIterable<Progress>;
  /**
   * Compares the views of the tables in use with what their facts give, for one caller at a time: each would take as much of
   * the engine. @throws RpcError
   */
  compareViews(signal: AbortSignal): AsyncIterable<ComparedPart>;
  /** Gives it up. @throws RpcError */
  cancel(): Promise<void>;
}

/** The process that writes a service's tables. */
export interface Writer extends Reindexer {
  /** Ingests, goes on with a rebuild that a restart has interrupted, and tidies up; until the signal. */
  run(): Promise<void>;
}

const tell_ms = 500;

/** Makes the one writer of a service's generations. */
export function createWriter<Tables extends GenerationTables>(options: WriterOptions<Tables>): Writer {
  const { service, log, fault, inUse, fence, signal } = options;
  const database = fence.over(options.database);
  const exclusive = createMutex();
  const tidying = new Set<Promise<void>>();
  let isComparing = false;
  let state = options.state;
  let rebuild: Rebuild<Tables> | undefined;
  // After a failure nobody knows whether the state was written.
  let isKnown = true;

  const change = async (to: Partial<Omit<Generations, 'revision'>>): Promise<void> => {
    if (!isKnown) state = await readGenerations(database, service.base);
    isKnown = false;
    state = await writeGenerations(database, service.base, state, to);
    isKnown = true;
  };

  /** Removes generations after a time; tried again until it works, or at the next start. */
  const dropLater = (generations: readonly number[], wait_ms: number): void => {
    const work = (async () => {
      await sleep(wait_ms, signal);
      for (const generation of generations) {
        while (!signal.aborted) {
          try {
            await database.confirm();
            await dropGeneration(database, service.base, generation, fault);
            log.info({ generation }, 'removed tables that are no longer in use');
            break;
          } catch (error) {
            log.warn({ err: error, generation }, `tables could not be removed: ${messageOf(error)}`);
            await sleep(10_000, signal);
          }
        }
      }
    })();
    tidying.add(work);
    void work.finally(() => tidying.delete(work));
  };

  const begin = (): void => {
    const { building, in_use } = state;
    log.info({ generation: building }, 'rebuilding beside the tables in use');
    const current = startRebuild<Tables>({
      ...options,
      state: () => state,
      change,
      found: (now) => {
        [state, isKnown] = [now, true];
      },
    });
    rebuild = current;
    const tidy = current.ended.then(async ({ outcome, replaced }) => {
      if (outcome === 'swapped') {
        log.info({ generation: building }, 'the rebuilt tables are in use');
        rebuild = undefined;
        await replaced?.work;
        dropLater([in_use], options.keep_ms);
      }
    });
    tidying.add(tidy);
    void tidy.finally(() => tidying.delete(tidy));
  };

  const running = (): Rebuild<Tables> => {
    if (rebuild === undefined) throw notFound(`the ${service.name} service is not being rebuilt`);
    return rebuild;
  };

  let began = (): void => {};
  const hasBegun = new Promise<void>((resolve) => {
    began = resolve;
    signal.addEventListener('abort', () => resolve());
  });

  /** Goes on from where the writer before has left the generations. */
  const takeOver = async (): Promise<void> => {
    const found = await readGenerations(database, service.base);
    if (found.in_use !== state.in_use) {
      // Nothing was written: the next writer need not wait until this one is silent.
      await fence.release();
      throw new TryAgainError(
        `the tables of the ${service.name} service were replaced by rebuilt ones while this process waited to write them`,
      );
    }
    state = found;
    // The writer before may still be dropping and making the tables of one that was not prepared.
    if (state.building !== 0 && !state.is_prepared && !database.isExclusive)
      await change({ building: await nextGeneration(database, service.base) });
  };

  return {
    async run() {
      if (!(await fence.acquire(signal))) return;
      await takeOver();
      inUse.ingest();
      began();
      const left = await leftovers(database, service.base, state).catch((error: unknown) => {
        log.warn({ err: error }, `old tables could not be looked for: ${messageOf(error)}`);
        return [];
      });
      if (left.length > 0) dropLater(left, options.keep_ms);
      if (state.building !== 0) begin();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve());
      });
      await inUse.running?.work;
      await rebuild?.ended;
      while (tidying.size > 0) await Promise.all(tidying);
      await fence.release();
    },

    start: () =>
      exclusive(async () => {
        // The embedded engine has no other writer: it begins in a moment.
        if (database.isExclusive) await hasBegun;
        if (signal.aborted || inUse.running === undefined)
          throw new RpcError(
            status.UNAVAILABLE,
            fence.notReadyReason || 'the service is starting or stopping',
          );
        if (rebuild !== undefined) {
          const { height, target_height } = rebuild.progress();
          throw new RpcError(
            status.ALREADY_EXISTS,
            `the ${service.name} service is being rebuilt already, and is at ${height} of ${target_height}: watch it or cancel it first`,
          );
        }
        if (inUse.current().head.position.height === 0)
          throw invalidArgument('nothing is indexed yet that could be rebuilt');
        const building = await nextGeneration(database, service.base);
        await change({ building, is_prepared: false });
        await fault('reindex begun');
        begin();
      }),

    async *watch(until) {
      const watched = running();
      let isOver = false;
      const over = watched.ended.then(() => {
        isOver = true;
      });
      while (!until.aborted) {
        yield watched.progress();
        if (isOver) break;
        await Promise.race([sleep(tell_ms, until), over]);
      }
      if (!isOver) return;
      const { outcome } = await watched.ended;
      if (outcome === 'cancelled') throw new RpcError(status.CANCELLED, 'the rebuild was cancelled');
      if (outcome === 'stopped')
        throw new RpcError(status.UNAVAILABLE, 'the service stops: the rebuild goes on with its next start');
    },

    async *compareViews(until) {
      if (inUse.running === undefined)
        throw new RpcError(status.UNAVAILABLE, fence.notReadyReason || 'the service is starting');
      if (isComparing) {
        options.metrics.limits.inc({ service: service.name, limit: 'CompareViews' });
        throw new RpcError(
          status.RESOURCE_EXHAUSTED,
          `the views of the ${service.name} service are being compared already`,
        );
      }
      isComparing = true;
      const ended = AbortSignal.any([until, signal]);
      try {
        yield* inUse.current().store.compareViews({ isWanted: () => !ended.aborted });
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new RpcError(status.UNAVAILABLE, 'the service stops: compare again once it is back');
      } finally {
        isComparing = false;
      }
    },

    cancel: () =>
      exclusive(async () => {
        const cancelled = running();
        if (!cancelled.cancel())
          throw new RpcError(
            status.FAILED_PRECONDITION,
            'it is too late: the rebuilt tables come into use now',
          );
        const { outcome } = await cancelled.ended;
        if (outcome !== 'cancelled') throw new RpcError(status.UNAVAILABLE, 'the service stops');
        await change({ building: 0, is_prepared: false });
        await fault('reindex cancelled');
        rebuild = undefined;
        dropLater([cancelled.generation], 0);
        log.info({ generation: cancelled.generation }, 'the rebuild was cancelled');
      }),
  };
}
