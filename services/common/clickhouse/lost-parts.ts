import type { Log } from '../log.js';
import type { Readiness } from '../ops.js';
import type { Database } from './database.js';

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
