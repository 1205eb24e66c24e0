import { createBatcher } from '../../common/batcher.js';
import type { Call, Database } from '../../common/clickhouse/database.js';
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

interface RangeRow {
  readonly height: number;
  readonly last: number;
  readonly items: number;
}

const heightsAtOnce = 256;

/** Opens the ranges of blocks. @param atOnce how many queries may run at once. */
export function createBlockRanges(database: Database, tables: Tables, atOnce: number): BlockRanges {
  const batcherOf = (table: 'blocks' | 'internal_blocks', last: string, items: string) =>
    createBatcher<number, SequenceRange>({
      run: async (heights, call) => {
        const rows = await database.rows<RangeRow>(
          `SELECT height, ${last} AS last, ${items} AS items FROM ${tables.of(table)} WHERE height IN {heights:Array(UInt64)}`,
          { heights: [...new Set(heights)] },
          { name: `tx.ranges_of_${table}`, ...call },
        );
        const found = new Map(rows.map((row) => [row.height, row]));
        return heights.map((height) => {
          const row = found.get(height);
          return row === undefined ? emptyRange : { first: row.last - row.items + 1, last: row.last };
        });
      },
      most: heightsAtOnce,
      atOnce,
    });
  const batchers = {
    tx: batcherOf('blocks', 'last_sequence', 'tx_count'),
    evm_tx: batcherOf('blocks', 'last_evm_sequence', 'evm_tx_count'),
    internal_tx: batcherOf('internal_blocks', 'last_sequence', 'frame_count'),
  };
  return (kind, height, call) => batchers[kind](height, call);
}
