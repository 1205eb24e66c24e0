import type { Call, Database } from '../../common/clickhouse/database.js';
import { createBatcher } from '../../common/util/batcher.js';
import type { FactFiles } from '../../common/util/fact-files.js';
import type { Head } from '../store/cursor.js';
import type { BatchEnd } from '../store/rows.js';
import type { Kind, Tables } from '../store/tables.js';

/** The sequences of a block, inclusive; none when last < first. */
export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

/** What no block has. */
export const emptyRange: SequenceRange = { first: 1, last: 0 };

/** The sequences of a kind in a block; empty for a height that is not indexed. */
export type BlockRanges = (kind: Kind, height: number, call: Call) => Promise<SequenceRange>;

const heightsAtOnce = 256;

/** Bytes of a row on local disk at most. */
const mostOfRow = 4_096;

export interface BlockRangesOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** The rows on local disk. */
  readonly files: FactFiles;
  /** How many queries may run at once. */
  readonly atOnce: number;
}

/** The rows that say where blocks end, as JSON, by height. */
export const rowsOfBlocks = (rows: BatchEnd['cursor']): ReadonlyMap<number, string> =>
  new Map(rows.map((row) => [row.height, JSON.stringify(row)]));

/** Opens the ranges of blocks. */
export function createBlockRanges({
  database,
  tables,
  head,
  files,
  atOnce,
}: BlockRangesOptions): BlockRanges {
  const rowOf = <Column extends string>(table: 'blocks' | 'internal_blocks', columns: readonly Column[]) => {
    type Row = Readonly<Record<Column | 'height', number>>;
    const read = createBatcher<number, Row | undefined>({
      run: async (heights, call) => {
        const began = head.revision;
        const rows = await database.rows<Row>(
          `SELECT height, ${columns.join(', ')} FROM ${tables.of(table)} WHERE height IN {heights:Array(UInt64)}`,
          { heights: [...new Set(heights)] },
          { name: `tx.ranges_of_${table}`, ...call },
        );
        const found = new Map(rows.map((row) => [row.height, row]));
        if (began === head.revision)
          files.put(table, new Map(rows.map((row) => [row.height, JSON.stringify(row)])));
        return heights.map((height) => found.get(height));
      },
      most: heightsAtOnce,
      atOnce,
    });
    return async (height: number, call: Call): Promise<Row | undefined> => {
      const stored = (await files.get(table, [height], mostOfRow)).get(height);
      return stored === undefined ? read(height, call) : (JSON.parse(stored.toString()) as Row);
    };
  };
  const block = rowOf('blocks', ['last_sequence', 'tx_count', 'last_evm_sequence', 'evm_tx_count']);
  const internal = rowOf('internal_blocks', ['last_sequence', 'frame_count']);
  const range = (last: number, items: number): SequenceRange => ({ first: last - items + 1, last });
  return async (kind, height, call) => {
    if (kind === 'internal_tx') {
      const row = await internal(height, call);
      return row === undefined ? emptyRange : range(row.last_sequence, row.frame_count);
    }
    const row = await block(height, call);
    if (row === undefined) return emptyRange;
    return kind === 'tx'
      ? range(row.last_sequence, row.tx_count)
      : range(row.last_evm_sequence, row.evm_tx_count);
  };
}
