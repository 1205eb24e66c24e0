import { migrate } from '../clickhouse/migrate.js';
import { Phase, type Progress } from '../gen/indexer/reindex/v1/reindex.js';
import { messageOf } from '../runtime/errors.js';
import { type FaultPoint, sleep } from '../runtime/lifecycle.js';
import { childOf } from '../util/signal.js';
import { dropGeneration, type Generations, readGenerations, targetOf } from './generations.js';
import type { InUse, Running } from './in-use.js';
import { createRate, paced } from './pace.js';
import { type GenerationTables, includes, isNear, type ReindexEnvironment, tipOf } from './tables.js';

/** What a rebuild is given. */
export interface RebuildOptions<Tables extends GenerationTables> extends ReindexEnvironment<Tables> {
  readonly fault: FaultPoint;
  readonly inUse: InUse<Tables>;
  /** The state that counts; its `building` is the generation to build. */
  readonly state: () => Generations;
  /** Writes the next state. */
  readonly change: (change: Partial<Omit<Generations, 'revision'>>) => Promise<void>;
  /** Takes over a state that was found to be written. */
  readonly found: (state: Generations) => void;
}

/** How a rebuild ended; `stopped` ones go on at the next start. */
export type Outcome = 'swapped' | 'cancelled' | 'stopped';

/** A rebuild that runs. */
export interface Rebuild<Tables> {
  readonly generation: number;
  progress(): Progress;
  /** Ends it, unless it is past the point: then false. */
  cancel(): boolean;
  /** How it ended, with the tables that were in use before a swap. Never rejects. */
  readonly ended: Promise<{ readonly outcome: Outcome; readonly replaced?: Running<Tables> }>;
}

/** How often heights are compared. */
const look_ms = 100;

/** The new tables are close when they miss so few blocks, or as many as they write in so many seconds. */
const [nearBlocks, nearSeconds] = [5, 2];

/**
 * How long writing to the tables in use is held for the swap: the first time, and at most. It
 * doubles, so that the swap is made even where blocks come about as fast as they are written.
 */
const [firstHold_ms, longestHold_ms] = [2_000, 16_000];

/** Pauses after a swap that could not be made, and after failures: doubling up to the last. */
const [afterHold_ms, shortestWait_ms, longestWait_ms] = [3_000, 200, 10_000];

/** The rate is taken over this long. */
const rateWindow_ms = 10_000;

/**
 * Builds a generation beside the one in use and puts it in its place:
 *
 * 1. The tables are made; whatever stopped it, those of an attempt before go first.
 * 2. They follow the block service as any consumer does, from their own cursor.
 * 3. Once they are close, writing to the tables in use is held until the new ones have every
 *    block of them, and one row names the new ones as those in use.
 *
 * The state is written at the end of each step, and a start goes on with the step that was
 * not ended.
 */
export function startRebuild<Tables extends GenerationTables>(
  options: RebuildOptions<Tables>,
): Rebuild<Tables> {
  const { service, database, inUse, log, state } = options;
  const { building: generation } = state();
  const ending = childOf(options.signal);
  const { signal } = ending;
  const rate = createRate(rateWindow_ms);
  const target = targetOf(service.base, generation);
  let next: Running<Tables> | undefined;
  let hold_ms = firstHold_ms;
  let isSwapping = false;
  let isDone = false;

  const prepare = async (): Promise<void> => {
    const { database: slow } = paced(database, options.percent, signal);
    if (state().is_prepared) {
      await migrate(slow, service.migrations, target);
      return;
    }
    await dropGeneration(slow, service.base, generation, options.fault);
    await migrate(slow, service.migrations, target);
    await options.fault('reindex tables made');
    await options.change({ is_prepared: true });
    await options.fault('reindex prepared');
  };

  /** Makes the new tables those in use, when they have every block of the others. */
  const swap = (running: Running<Tables>): Promise<Running<Tables> | undefined> =>
    inUse.current().store.hold(async () => {
      const tip = tipOf(inUse.current());
      const until = performance.now() + hold_ms;
      running.setPercent(100);
      while (!(await includes(running.tables, tip))) {
        if (signal.aborted || performance.now() > until) {
          running.setPercent(options.percent);
          hold_ms = Math.min(longestHold_ms, hold_ms * 2);
          return undefined;
        }
        await sleep(look_ms / 5, signal);
      }
      await options.fault('reindex swap');
      if (signal.aborted) return undefined;
      isSwapping = true;
      await nameAsInUse();
      await options.fault('reindex swapped');
      return inUse.swap(running);
    });

  /** Writes the row of the swap, until it is certain whether it is written. */
  const nameAsInUse = async (): Promise<void> => {
    for (;;) {
      try {
        return await options.change({ in_use: generation, building: 0, is_prepared: false });
      } catch (error) {
        log.warn({ err: error }, `the swap could not be written: ${messageOf(error)}`);
        const now = await readGenerations(database, service.base).catch(() => undefined);
        if (now?.in_use === generation) return options.found(now);
        options.signal.throwIfAborted();
        await sleep(shortestWait_ms, options.signal);
      }
    }
  };

  const work = async (): Promise<Running<Tables>> => {
    for (let wait = shortestWait_ms; ; wait = Math.min(longestWait_ms, wait * 2)) {
      try {
        if (next === undefined) await prepare();
        next ??= inUse.start(target, options.percent, signal);
        for (;;) {
          signal.throwIfAborted();
          const tip = tipOf(next.tables);
          rate.add(performance.now(), tip.height);
          const near = Math.max(nearBlocks, nearSeconds * rate.perSecond());
          if (isNear(tip, tipOf(inUse.current()), near)) {
            const replaced = await swap(next);
            if (replaced !== undefined) return replaced;
            await sleep(afterHold_ms, signal);
          }
          await sleep(look_ms, signal);
        }
      } catch (error) {
        if (signal.aborted) throw error;
        options.metrics.problems.inc({ service: service.name, kind: 'reindex' });
        log.warn({ err: error, retry_ms: wait }, `the rebuild broke: ${messageOf(error)}`);
        await sleep(wait * (0.5 + Math.random()), signal);
      }
    }
  };

  const ended = work().then(
    (replaced) => {
      isDone = true;
      return { outcome: 'swapped' as const, replaced };
    },
    async () => {
      await next?.work;
      return { outcome: options.signal.aborted ? ('stopped' as const) : ('cancelled' as const) };
    },
  );

  return {
    generation,
    ended,
    progress: () => ({
      phase: isDone ? Phase.DONE : next === undefined ? Phase.COPYING : Phase.BUILDING,
      height: next?.tables.head.position.height ?? 0,
      target_height: inUse.current().head.position.height,
      blocks_per_second: rate.perSecond(),
    }),
    cancel() {
      if (isSwapping) return false;
      ending.abort();
      return true;
    },
  };
}
