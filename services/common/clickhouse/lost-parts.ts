import type { Log } from '../log.js';
import type { Database } from './database.js';

/**
 * Tells of rows that are lost: parts of tables that the engine found damaged when it started, after a loss of power for
 * instance, and put aside, and that nothing stands for any more. Without a word they would be missing for ever.
 *
 * @returns the tables, `database.table`.
 */
export async function tellOfLostParts(database: Database, log: Pick<Log, 'error'>): Promise<string[]> {
  // A server's own replicas give it such parts again.
  if (!database.isExclusive) return [];
  // After a merge that was damaged the engine takes the parts that were merged, while it has them: then nothing is lost.
  const lost = await database.rows<{ database: string; table: string; parts: string[] }>(
    `SELECT database, table, groupArray(name) AS parts FROM (
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
  for (const { database: name, table, parts } of lost)
    log.error(
      { table: `${name}.${table}`, parts: parts.slice(0, 10) },
      'rows of a table are lost: the engine found damaged parts and put them aside. Rebuild the tables with `weft reindex SERVICE`, or restore the data folder from a backup',
    );
  return lost.map(({ database: name, table }) => `${name}.${table}`);
}
