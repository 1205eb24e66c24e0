import type { Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consumer/consume.js';
import { type Head as CommonHead, createHead as createCommonHead } from '../../common/writer/head.js';
import type { HeadCall } from '../../common/writer/head-table.js';
import type { Tables } from './tables.js';

/** How far the tables are: everything up to here is whole, nothing above is read. */
export interface Position extends Cursor {
  /** Version of the last name or uri that counts; 0 while there is none. */
  readonly details: number;
}

/** Empty tables. */
export const nothing: Position = { height: 0, hash: '', details: 0 };

/** How far calls may read, in memory; names and uris that are learnt late revise it. */
export type Head = CommonHead<Position>;

/** Makes a head of empty tables. */
export const createHead = (): Head => createCommonHead(nothing, ['height', 'hash']);

/** Reads where the tables were at a height. @param details is not said by blocks. */
export async function readPosition(
  database: Database,
  tables: Tables,
  height: number,
  details: number,
  call: HeadCall = {},
): Promise<Position> {
  const [block] = await database.rows<Cursor>(
    `SELECT height, hash
     FROM ${tables.of('blocks')}
     WHERE height <= {height:UInt64}
     ORDER BY height DESC
     LIMIT 1`,
    { height },
    { name: 'nft.cursor', ...call },
  );
  return { ...nothing, ...block, details };
}
