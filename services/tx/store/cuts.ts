import type { Database } from '../../common/clickhouse/database.js';
import { isBeingCut } from '../../common/cuts.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Tables } from './tables.js';

/*
 * Unlike other services' tables, these give exact answers while they are cut (read/accounts.ts),
 * and after a kill meanwhile: so a cut is counted not for readers to wait, but so that they see
 * its height at once, leave account_heads alone, and read again what they read when it began.
 */

/** A row of `cuts`, see the schema. */
export interface CutRow {
  readonly number: number;
  readonly height: number;
  readonly top: number;
}

/** Before the first cut. */
export const noCut: CutRow = { number: 0, height: 0, top: 0 };

/** Whether a cut is under way. @param newest height of the last block in the tables. */
export const isUnderWay = ({ number, top }: CutRow, newest: number): boolean =>
  isBeingCut(number) && newest <= top;

/** How many cuts have begun and ended for readers: odd while one is under way. */
export const countedCuts = (cut: CutRow, newest: number): number =>
  isUnderWay(cut, newest) ? cut.number : cut.number + (cut.number % 2);

/** A cut of the tables by their one writer. */
export interface Cut {
  /** Lowers the cursor for everybody; nothing if it is there already. Before anything is removed. */
  begin(height: number): Promise<void>;
  /** Says that the tables are whole. Nothing if they are. */
  end(): Promise<void>;
}

export interface CutOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly fault: FaultPoint;
  /** Told the number whenever there is a new one: readers in this process go by it. */
  readonly onCuts?: ((cuts: number) => void) | undefined;
}

/** Makes a cut; one that a kill has left goes on. @param newest height of the last block in the tables. */
export function openCut({ database, tables, fault, onCuts }: CutOptions, last: CutRow, newest: number): Cut {
  let row = last;
  let to = isUnderWay(last, newest) ? last.height : undefined;
  onCuts?.(countedCuts(last, newest));
  const write = async (next: CutRow): Promise<void> => {
    await fault('write cuts');
    await database.insert(tables.of('cuts'), JSON.stringify(next), { name: 'tx.write_cuts' });
    row = next;
    onCuts?.(next.number);
  };
  return {
    async begin(height) {
      if (to === height) return;
      await write({ number: row.number + 1 + (row.number % 2), height, top: Math.max(newest, row.top) });
      to = height;
    },
    async end() {
      if (isBeingCut(row.number)) await write({ ...row, number: row.number + 1 });
      to = undefined;
    },
  };
}
