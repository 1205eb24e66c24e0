import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consume.js';
import type { Kind, Tables } from './tables.js';

/** How far the tables are: everything up to here is whole, nothing above is read. */
export interface Position {
  /** Last block whose txs are written; 0 and '' while there is none. */
  readonly height: number;
  /** Upper-case hex. */
  readonly hash: string;
  /** Last block whose internal txs are written; 0 while there is none. */
  readonly internal_height: number;
  /** Last sequence of each kind; 0 while there is none. */
  readonly last: Readonly<Record<Kind, number>>;
}

/** Empty tables. */
export const nothing: Position = {
  height: 0,
  hash: '',
  internal_height: 0,
  last: { tx: 0, evm_tx: 0, internal_tx: 0 },
};

/** Reads how far the tables are, or the last batch that ends at or below a height. */
export async function readPosition(
  database: Database,
  tables: Tables,
  height = Number.MAX_SAFE_INTEGER,
  call: Call = {},
): Promise<Position> {
  const [block] = await database.rows<Cursor & { last_sequence: number; last_evm_sequence: number }>(
    `SELECT height, hash, last_sequence, last_evm_sequence FROM ${tables.of('blocks')} WHERE height <= {height:UInt64} AND ends_batch ORDER BY height DESC LIMIT 1`,
    { height },
    { name: 'tx.cursor', ...call },
  );
  if (block === undefined) return nothing;
  // Not above the other cursor, even while a rollback is being unwound.
  const [internal] = await database.rows<{ height: number; last_sequence: number }>(
    `SELECT height, last_sequence FROM ${tables.of('internal_blocks')} WHERE height <= {height:UInt64} AND ends_batch ORDER BY height DESC LIMIT 1`,
    { height: block.height },
    { name: 'tx.internal_cursor', ...call },
  );
  return {
    height: block.height,
    hash: block.hash,
    internal_height: internal?.height ?? 0,
    last: {
      tx: block.last_sequence,
      evm_tx: block.last_evm_sequence,
      internal_tx: internal?.last_sequence ?? 0,
    },
  };
}

/** The blocks between two heights, inclusive, ascending. */
export function readHashes(
  database: Database,
  tables: Tables,
  from: number,
  to: number,
  call: Call = {},
): Promise<Cursor[]> {
  return database.rows<Cursor>(
    `SELECT height, hash FROM ${tables.of('blocks')} WHERE height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height`,
    { from, to },
    { name: 'tx.hashes', ...call },
  );
}
