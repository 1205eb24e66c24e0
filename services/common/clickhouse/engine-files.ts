import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Log } from '../runtime/log.js';
import type { Readiness } from '../runtime/ops.js';
import type { Database } from './database.js';

/*
 * How a process with the embedded engine ends at once when it has to.
 *
 * The engine puts its own handlers on the signals of fatal errors. They wait up to five minutes for a
 * log thread that an embedded engine does not have. Until then a process that aborted, in native code
 * or because V8 ran out of heap, keeps its ports. No JavaScript runs after an abort, so the kernel has
 * to end it: the signals get their default disposition back. A second process or a native addon that
 * watches over this one could do no more.
 */

/** The signals of fatal errors that the engine takes; its other ones (for debugging and profiling) do no harm. */
const fatalSignals = ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'] as const;

/** Gives the signals of fatal errors back to the kernel, which ends the process. Call it after the engine is loaded. */
export function restoreFatalSignals(): void {
  for (const signal of fatalSignals) {
    const nothing = (): void => {};
    process.on(signal, nothing);
    // Without its last listener, Node (libuv) puts SIG_DFL in the place of whatever handler there was.
    process.off(signal, nothing);
  }
  // The kernel keeps signals without a handler from the first process of a container. An abort ends that
  // one all the same: it goes on to a forbidden instruction. A signal that somebody sends needs a handler.
  if (process.pid === 1 && process.listenerCount('SIGABRT') === 0)
    process.on('SIGABRT', () => process.exit(128 + constants.signals.SIGABRT));
}

/**
 * Keeps an exit after a failure from waiting for a statement that runs. Node ends its threads first, and the
 * thread of a statement ends with the statement. Tables survive that, as they survive any kill.
 *
 * @param isBusy whether a statement runs.
 * @returns what ends this.
 */
export function endDespiteStatements(isBusy: () => boolean): () => void {
  const end = (code: number): void => {
    if (code === 0 || !isBusy()) return;
    process.kill(process.pid, 'SIGKILL');
    process.abort(); // where that does nothing: in the first process of a container
  };
  process.on('exit', end);
  return () => process.off('exit', end);
}

/**
 * Whether another process has the folder of an embedded engine open, by the lock that it holds on a file there. The
 * engine itself would print its own words to standard error before anything can be said.
 *
 * @returns false also where that cannot be told: only Linux lists locks.
 */
export function isFolderLocked(folder: string): boolean {
  try {
    const { ino } = statSync(join(folder, 'status'));
    // `1: FLOCK  ADVISORY  WRITE 11007 fe:00:10445654 0 EOF`
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .some((line) => line.split(/\s+/)[5]?.endsWith(`:${ino}`) && !line.includes(` ${process.pid} `));
  } catch {
    return false;
  }
}

/** How often it is looked whether what was lost is there again, in milliseconds. */
const lookEvery_ms = 30_000;

/** A watch over tables that have lost rows. */
export interface LostParts {
  /** Not ready while rows of a table are missing: answers from it are not complete. */
  readonly readiness: Readiness;
  stop(): void;
}

/**
 * Watches for rows that are lost: parts of tables that the engine found damaged when it started, after a loss of power
 * for instance, and put aside. Without a word they would be missing for ever. The tables are logged as errors, and the
 * process is not ready until they have been rebuilt.
 */
export async function watchLostParts(
  database: Database,
  log: Pick<Log, 'error' | 'warn'>,
): Promise<LostParts> {
  // A server's own replicas give it such parts again.
  if (!database.isExclusive) return { readiness: () => ({ ready: true, reason: '' }), stop: () => {} };
  let lost = await lostParts(database);
  for (const { table, parts } of lost)
    log.error(
      { table, parts: parts.slice(0, 10) },
      'rows of a table are lost: the engine found damaged parts and put them aside. Rebuild the tables with `weft reindex SERVICE`, or restore the data folder from a backup',
    );
  const look = async (): Promise<void> => {
    try {
      lost = await lostParts(database);
    } catch (error) {
      log.warn({ error }, 'cannot tell whether rows of tables are still lost');
    }
  };
  // The engine looks for damage when it starts, so nothing is lost later.
  const timer = lost.length > 0 ? setInterval(look, lookEvery_ms).unref() : undefined;
  return {
    readiness: () => ({
      ready: lost.length === 0,
      reason: `rows of ${lost.map(({ table }) => table).join(', ')} are lost, see the log`,
    }),
    stop: () => clearInterval(timer),
  };
}

/** The tables, `database.table`, with the names of parts that are damaged and that nothing stands for. */
export async function lostParts(database: Database): Promise<{ table: string; parts: string[] }[]> {
  // After a merge that was damaged the engine takes the parts that were merged, while it has them: then nothing is lost.
  return database.rows<{ table: string; parts: string[] }>(
    `SELECT database || '.' || table AS table, groupArray(name) AS parts FROM (
       SELECT broken.database AS database, broken.table AS table, broken.name AS name
       FROM system.detached_parts AS broken
       LEFT JOIN (SELECT database, table, partition_id, min_block_number, max_block_number FROM system.parts WHERE active) AS active
         ON active.database = broken.database AND active.table = broken.table AND active.partition_id = broken.partition_id
       WHERE startsWith(ifNull(broken.reason, ''), 'broken')
       GROUP BY database, table, name
       HAVING countIf(active.partition_id != '' AND active.max_block_number >= broken.min_block_number
         AND active.min_block_number <= broken.max_block_number) = 0)
     GROUP BY database, table ORDER BY database, table`,
    {},
    { name: 'common.lost_parts' },
  );
}
