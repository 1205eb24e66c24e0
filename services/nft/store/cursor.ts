import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consume.js';
import type { Tables } from './tables.js';

/** How far the tables are: everything up to here is whole, nothing above is read. */
export interface Position extends Cursor {
  /** Version of the last name or uri that counts; 0 while there is none. */
  readonly details: number;
}

/** Empty tables. */
export const nothing: Position = { height: 0, hash: '', details: 0 };

/** Reads the last block that is written whole at or below a height. */
export async function readCursor(
  database: Database,
  tables: Tables,
  height = Number.MAX_SAFE_INTEGER,
  call: Call & { readonly priority?: 'read' | 'write' } = {},
): Promise<Cursor> {
  const [block] = await database.rows<Cursor>(
    `SELECT height, hash
     FROM ${tables.of('blocks')}
     WHERE height <= {height:UInt64}
     ORDER BY height DESC
     LIMIT 1`,
    { height },
    { name: 'nft.cursor', ...call },
  );
  return block ?? { height: 0, hash: '' };
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
    `SELECT height, hash
     FROM ${tables.of('blocks')}
     WHERE height BETWEEN {from:UInt64} AND {to:UInt64}
     ORDER BY height`,
    { from, to },
    { name: 'nft.hashes', ...call },
  );
}
