import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consume.js';
import type { Tables } from './tables.js';

/** Empty tables. */
export const nothing: Cursor = { height: 0, hash: '' };

/** Reads the last block that is written whole, or the last one at or below a height. */
export async function readCursor(
  database: Database,
  tables: Tables,
  height = Number.MAX_SAFE_INTEGER,
  call: Call = {},
): Promise<Cursor> {
  const [block] = await database.rows<Cursor>(
    `SELECT height, hash FROM ${tables.of('blocks')} WHERE height <= {height:UInt64} ORDER BY height DESC LIMIT 1`,
    { height },
    { name: 'nft.cursor', ...call },
  );
  return block ?? nothing;
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
    { name: 'nft.hashes', ...call },
  );
}

/** The first block that is written; 0 while there is none. */
export async function readFirstHeight(database: Database, tables: Tables): Promise<number> {
  const [block] = await database.rows<{ height: number }>(
    `SELECT height FROM ${tables.of('blocks')} ORDER BY height LIMIT 1`,
    {},
    { name: 'nft.first_block' },
  );
  return block?.height ?? 0;
}
