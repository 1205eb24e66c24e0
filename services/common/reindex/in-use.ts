import type { Database } from '../clickhouse/database.js';
import type { Target } from '../clickhouse/migrate.js';
import { childOf } from '../util/signal.js';
import type { Fence } from '../writer/fence.js';
import { paced } from './pace.js';
import type { GenerationTables, RebuildableService } from './tables.js';

/** A generation that is being written. */
export interface Running<Tables> {
  readonly tables: Tables;
  /** Resolves when nothing is written any more. */
  readonly work: Promise<void>;
  /** Ends the writing. */
  end(): void;
  /** Sets the share of time that its statements may take; 100 lets it write as fast as it can. */
  setPercent(percent: number): void;
}

/** The generation that calls are answered from. */
export interface InUse<Tables> {
  current(): Tables;
  /** Opens a generation that another process writes. */
  open(target: Target): Tables;
  /**
   * Opens a generation and begins to write it.
   *
   * @param percent the share of time that its statements may take until it is in use.
   * @param signal ends the writing.
   */
  start(target: Target, percent: number, signal: AbortSignal): Running<Tables>;
  /** Begins to write the generation in use. */
  ingest(): void;
  /** Answers calls from another generation from now on. @returns the one before, with its writing ended. */
  swap(next: Running<Tables>): Running<Tables>;
  /** The same where another process writes. */
  show(tables: Tables): void;
  /** The one in use that is being written; undefined before `ingest`. */
  readonly running: Running<Tables> | undefined;
}

/**
 * Holds what calls are answered from. A swap is one assignment: a call that has begun ends on
 * the tables that it began with.
 *
 * @param fence guards everything that is written.
 * @param signal ends the writing of every generation.
 */
export function createInUse<Tables extends GenerationTables>(
  service: RebuildableService<Tables>,
  database: Database,
  target: Target,
  fence: Fence,
  signal: AbortSignal,
): InUse<Tables> {
  /** What ends the work on tables. */
  const endsOf = new WeakMap<Tables, AbortController>();
  const open = (where: Target, writer: Database, ends: AbortController): Tables => {
    const tables: Tables = service.open({
      target: where,
      database,
      writer: fence.over(writer),
      isInUse: () => tables === current,
      inUse: () => current,
      signal: ends.signal,
    });
    endsOf.set(tables, ends);
    return tables;
  };
  const endsFirst = childOf(signal);
  let current = open(target, database, endsFirst);
  let running: Running<Tables> | undefined;

  const show = (tables: Tables): void => {
    const before = current;
    tables.head.reviseAbove(before.head.revision);
    current = tables;
    // Those who wait for the head look which generation is in use.
    before.head.bell.ring();
    if (before !== tables) endsOf.get(before)?.abort();
  };

  return {
    current: () => current,
    open: (where) => open(where, database, childOf(signal)),
    get running() {
      return running;
    },
    start(where, percent, until) {
      const ends = childOf(until);
      const pace = paced(database, percent, ends.signal);
      const tables = open(where, pace.database, ends);
      return { tables, work: tables.ingest(), end: () => ends.abort(), setPercent: pace.setPercent };
    },
    ingest() {
      running ??= {
        tables: current,
        work: current.ingest(),
        end: () => endsFirst.abort(),
        setPercent: () => {},
      };
    },
    swap(next) {
      if (running === undefined) throw new Error('nothing is being written that could be replaced');
      const before = running;
      running = next;
      next.setPercent(100);
      show(next.tables);
      return before;
    },
    show,
  };
}
