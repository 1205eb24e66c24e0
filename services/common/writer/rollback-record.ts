import type { FencedDatabase } from './fence.js';

/*
 * Before a rollback or a start removes rows above a height, the writer of blocks says so in the table `cuts`, and after the
 * last one it says that it is done. So whoever writes next finishes what its predecessor did not, at the same height: a DELETE
 * that still runs finds nothing left to remove (fence.ts). Earlier versions of the other services kept it in the same way.
 */

/** A row of `cuts`. */
export interface RollbackRow {
  /** Odd when the removal begins; the next, even number when it is done. The highest number counts. */
  readonly number: number;
  /** Height that the tables are lowered to. */
  readonly height: number;
  /**
   * Height of the last block when it began. Where there is a block above, a version that does not know this has ended it, and
   * written on. 0 where a version has written the row that did not say heights.
   */
  readonly top: number;
}

/** Whether rows are being removed. */
export const isUnderWay = ({ number }: RollbackRow): boolean => number % 2 === 1;

/** Height that tables are being lowered to; undefined when they are not. @param newest height of the last block in the tables. */
export function rollbackTarget(row: RollbackRow, newest: number): number | undefined {
  if (!isUnderWay(row)) return undefined;
  if (row.top === 0) return newest;
  return newest <= row.top ? row.height : undefined;
}

/** Reads the last rollback. @param table qualified. @param name of the statement in metrics. */
export async function readRollback(
  database: FencedDatabase,
  table: string,
  name: string,
): Promise<RollbackRow> {
  const [row] = await database.rows<RollbackRow>(
    `SELECT c.number AS number, c.height AS height, c.top AS top FROM ${table} AS c ORDER BY c.number DESC LIMIT 1`,
    {},
    { name, priority: 'write' },
  );
  return row ?? { number: 0, height: 0, top: 0 };
}

/** Writes how a rollback is. */
export const writeRollback = (
  database: FencedDatabase,
  table: string,
  name: string,
  row: RollbackRow,
): Promise<void> => database.insert(table, JSON.stringify(row), { name, priority: 'write' });
