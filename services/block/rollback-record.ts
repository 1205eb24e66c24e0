import type { FaultPoint } from '../common/fault.js';
import type { FencedDatabase } from '../common/writer/fence.js';

/*
 * Before a rollback or a start removes rows above a height, the writer says so in the table `cuts`, and after the last one it
 * says that it is done. So whoever writes next finishes what its predecessor did not, at the same height: a DELETE that still
 * runs finds nothing left to remove (writer/fence.ts).
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

/** Before the first one. */
const none: RollbackRow = { number: 0, height: 0, top: 0 };

const isUnderWay = ({ number }: RollbackRow): boolean => number % 2 === 1;

/** Height that tables are being lowered to; undefined when they are not. @param newest height of the last block in the tables. */
export function rollbackTarget(row: RollbackRow, newest: number): number | undefined {
  if (!isUnderWay(row)) return undefined;
  if (row.top === 0) return newest;
  return newest <= row.top ? row.height : undefined;
}

/** Where the rollbacks of tables are kept. */
export interface RollbackTable {
  readonly database: FencedDatabase;
  /** The table, qualified. */
  readonly table: string;
  readonly fault: FaultPoint;
}

const options = { name: 'block.rollback', priority: 'write' as const };

/** Reads the last rollback. */
export async function readRollback({ database, table }: RollbackTable): Promise<RollbackRow> {
  const [row] = await database.rows<RollbackRow>(
    `SELECT c.number AS number, c.height AS height, c.top AS top FROM ${table} AS c ORDER BY c.number DESC LIMIT 1`,
    {},
    options,
  );
  return row ?? none;
}

/** One rollback of tables, by their one writer. */
export interface Rollback {
  /** Says that the tables are lowered to a height. Before a row is removed; nothing if that is said already. */
  begin(height: number): Promise<void>;
  /** Says that it is done. Nothing if it was not begun. */
  end(): Promise<void>;
}

/**
 * Makes a rollback; one that another process has not ended has begun.
 *
 * @param last what `readRollback` gives.
 * @param newest height of the last block in the tables.
 */
export function openRollback(
  { database, table, fault }: RollbackTable,
  last: RollbackRow,
  newest: number,
): Rollback {
  let row = last;
  let to = last.top === 0 ? undefined : rollbackTarget(last, newest);
  const write = async (next: RollbackRow): Promise<void> => {
    await fault('write cuts');
    await database.insert(table, JSON.stringify(next), options);
    // What follows removes rows: not in somebody else's tables.
    await database.confirm();
    row = next;
  };
  return {
    async begin(height) {
      if (to === height) return;
      const number = row.number + 1 + (row.number % 2);
      // At least 1: 0 stands for a version that did not say heights.
      await write({ number, height, top: Math.max(newest, row.top, 1) });
      to = height;
    },
    async end() {
      if (isUnderWay(row)) await write({ ...row, number: row.number + 1 });
      to = undefined;
    },
  };
}
