import type { Database } from '../../common/clickhouse/database.js';
import { type Head as CommonHead, createHead as createCommonHead } from '../../common/writer/head.js';
import type { HeadCall } from '../../common/writer/head-table.js';
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

/** How far calls may read, in memory; a correction moves it too. */
export type Head = CommonHead<Position>;

/** Makes a head of empty tables. */
export const createHead = (): Head => createCommonHead(nothing, ['height', 'hash', 'last_ord']);

/** Reads how far the tables were at a height. */
export async function readPosition(
  database: Database,
  tables: Tables,
  height: number,
  call: HeadCall = {},
): Promise<Position> {
  const [position] = await database.rows<Position>(
    `SELECT height, hash, last_ord, seed_height FROM ${tables.of('blocks')} WHERE height <= {height:UInt64} ORDER BY height DESC, last_ord DESC LIMIT 1`,
    { height },
    { name: 'richlist.cursor', ...call },
  );
  return position ?? nothing;
}
