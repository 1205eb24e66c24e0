import type { Database, StatementOptions } from './clickhouse/database.js';
import type { FaultPoint } from './fault.js';
import type { FencedDatabase } from './writer/fence.js';

/*
 * What a rollback or a crash leaves above the cursor is removed, and what it had replaced is made again. Before the first
 * row goes, the writer says in the table `cuts` down to which height it cuts; after the last it says that it is done. So
 *
 * 1. whoever writes next finishes a cut that its writer did not, at the same height: a DELETE of the earlier writer that
 *    still runs finds nothing left to remove (writer/fence.ts);
 * 2. readers see that rows are missing below the cursor: merges may have dropped older rows for those that go.
 */

/** A row of `cuts`. */
export interface CutRow {
  /** Odd when the cut begins; the next, even number when it is done. The highest number counts. */
  readonly number: number;
  /** Height that the tables are cut to. */
  readonly height: number;
  /**
   * Height of the last block when the cut began. Where there is a block above, a version that does not know this has
   * ended the cut, and written on. 0 where a version has written the row that did not say heights.
   */
  readonly top: number;
}

/** Before the first cut. */
const noCut: CutRow = { number: 0, height: 0, top: 0 };

/** Whether tables are being cut, by their number of beginnings and ends. */
export const isBeingCut = (number: number): boolean => number % 2 === 1;

/** Height that a cut is under way to; undefined when none is. @param newest height of the last block in the tables. */
export function cutTarget({ number, height, top }: CutRow, newest: number): number | undefined {
  if (!isBeingCut(number)) return undefined;
  if (top === 0) return newest;
  return newest <= top ? height : undefined;
}

/** How many cuts have begun and ended for readers: odd while one is under way. */
export const countedCuts = (cut: CutRow, newest: number): number =>
  cutTarget(cut, newest) === undefined ? cut.number + (cut.number % 2) : cut.number;

/** Where the cuts of tables are kept. */
export interface CutsTable<D extends Database = Database> {
  readonly database: D;
  /** The table, qualified. */
  readonly table: string;
  /** Of the statements in metrics. */
  readonly name: string;
}

/** Reads the last cut. */
export async function readCut(
  { database, table, name }: CutsTable,
  priority: StatementOptions['priority'] = 'read',
): Promise<CutRow> {
  const [row] = await database.rows<CutRow>(
    `SELECT c.number AS number, c.height AS height, c.top AS top FROM ${table} AS c ORDER BY c.number DESC LIMIT 1`,
    {},
    { name, priority },
  );
  return row ?? noCut;
}

/** One cut of tables, by their one writer. */
export interface Cut {
  /** Says that the tables are cut to a height. Before the cursor is lowered or a row removed; nothing if that is said already. */
  begin(height: number): Promise<void>;
  /** Says that the tables are whole. Nothing if none were missing. */
  end(): Promise<void>;
}

export interface CutOptions extends CutsTable<FencedDatabase> {
  readonly fault: FaultPoint;
  /** Told the number whenever it is known anew: readers in this process go by it. */
  readonly onCuts?: ((cuts: number) => void) | undefined;
}

/**
 * Makes a cut; one that another process has not ended has begun.
 *
 * @param last what `readCut` gives.
 * @param newest height of the last block in the tables.
 */
export function openCut(options: CutOptions, last: CutRow, newest: number): Cut {
  const { database, table, name, fault, onCuts } = options;
  let row = last;
  let to = last.top === 0 ? undefined : cutTarget(last, newest);
  onCuts?.(countedCuts(last, newest));
  const write = async (next: CutRow): Promise<void> => {
    await fault('write cuts');
    await database.insert(table, JSON.stringify(next), { name, priority: 'write' });
    // What follows removes rows: not in somebody else's tables.
    await database.confirm();
    row = next;
    onCuts?.(next.number);
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
      if (isBeingCut(row.number)) await write({ ...row, number: row.number + 1 });
      to = undefined;
    },
  };
}
