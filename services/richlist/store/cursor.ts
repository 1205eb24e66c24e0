import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consume.js';
import type { Tables } from './tables.js';

/** How far the tables are: everything up to here is whole, nothing above is read. */
export interface Position {
  /** Last block whose changes are written; 0 and '' while there is none. */
  readonly height: number;
  /** Upper-case hex. */
  readonly hash: string;
  /** Number of the last change, heals included; 0 while there is none. */
  readonly last_ord: number;
  /** Height of the state that the index began with; 0 while it has not begun. */
  readonly seed_height: number;
}

/** Empty tables. */
export const nothing: Position = { height: 0, hash: '', last_ord: 0, seed_height: 0 };

/** The height at which balances may be shown: 0 until the blocks have come to the state that was begun with. */
export const servedHeight = ({ height, seed_height }: Position): number =>
  height >= seed_height ? height : 0;

/** Reads how far the tables are, or were at a height. */
export async function readPosition(
  database: Database,
  tables: Tables,
  height = Number.MAX_SAFE_INTEGER,
  call: Call & { readonly priority?: 'read' | 'write' } = {},
): Promise<Position> {
  const [position] = await database.rows<Position>(
    `SELECT height, hash, last_ord, seed_height FROM ${tables.of('blocks')} WHERE height <= {height:UInt64} ORDER BY height DESC, last_ord DESC LIMIT 1`,
    { height },
    { name: 'richlist.cursor', ...call },
  );
  return position ?? nothing;
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
    `SELECT height, any(hash) AS hash FROM ${tables.of('blocks')} WHERE height BETWEEN {from:UInt64} AND {to:UInt64} GROUP BY height ORDER BY height`,
    { from, to },
    { name: 'richlist.hashes', ...call },
  );
}
