import type { Database, StatementOptions } from './clickhouse/database.js';
import type { FaultPoint } from './fault.js';

/*
 * What a rollback or a crash leaves above the cursor may have replaced older rows, and merges
 * drop those. From when the cursor is lowered until the older ones are made again, the
 * tables lack rows that belong below the cursor, which the cursor does not tell. So the writer
 * counts the beginnings and ends of cuts in a table: the number is odd while tables are being
 * cut, and it stays odd after a kill until they are whole again. Readers refuse to answer then.
 */

/** Whether tables are being cut, by their number of beginnings and ends. */
export const isBeingCut = (cuts: number): boolean => cuts % 2 === 1;

/** Where the beginnings and ends of cuts are counted. */
export interface CutsTable {
  readonly database: Database;
  /** The table of the numbers, qualified. */
  readonly table: string;
  /** Of the statements in metrics. */
  readonly name: string;
}

/** Reads how many cuts have begun and ended; 0 before the first. */
export async function readCuts(
  { database, table, name }: CutsTable,
  priority: StatementOptions['priority'] = 'read',
): Promise<number> {
  const [row] = await database.rows<{ cuts: number }>(
    `SELECT max(c.number) AS cuts FROM ${table} AS c`,
    {},
    { name, priority },
  );
  return row?.cuts ?? 0;
}

/** One cut of tables, by their one writer. */
export interface Cut {
  /** Says that rows will be missing from now on; before the cursor is lowered or a row removed. Nothing if that is said already. */
  begin(): Promise<void>;
  /** Says that the tables are whole. Nothing if none were missing. */
  end(): Promise<void>;
}

export interface CutOptions extends CutsTable {
  readonly fault: FaultPoint;
  /** Told the number whenever it is known anew: readers in this process go by it. */
  readonly onCuts?: ((cuts: number) => void) | undefined;
}

/** Makes a cut; one that a kill has left open has begun. */
export async function openCut(options: CutOptions): Promise<Cut> {
  const { database, table, name, fault, onCuts } = options;
  let cuts = await readCuts(options, 'write');
  onCuts?.(cuts);
  const count = async (): Promise<void> => {
    await fault('write cuts');
    await database.insert(table, JSON.stringify({ number: cuts + 1 }), { name, priority: 'write' });
    cuts += 1;
    onCuts?.(cuts);
  };
  return {
    begin: async () => {
      if (!isBeingCut(cuts)) await count();
    },
    end: async () => {
      if (isBeingCut(cuts)) await count();
    },
  };
}
