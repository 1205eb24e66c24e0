import type { Database } from '../../common/clickhouse/database.js';
import type { Cursor } from '../../common/consumer/consume.js';
import { type Head as CommonHead, createHead as createCommonHead } from '../../common/writer/head.js';
import type { HeadCall } from '../../common/writer/head-table.js';
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

/** How far calls may read, in memory. */
export type Head = CommonHead<Position>;

/** Makes a head of empty tables. */
export const createHead = (): Head => createCommonHead(nothing, ['height', 'hash', 'internal_height']);

/**
 * Reads where the tables were at a height, from their blocks.
 *
 * @param internal_height internal txs above it do not count.
 */
export async function readPosition(
  database: Database,
  tables: Tables,
  height: number,
  internal_height = height,
  call: HeadCall = {},
): Promise<Position> {
  const [block] = await database.rows<Cursor & { last_sequence: number; last_evm_sequence: number }>(
    `SELECT height, hash, last_sequence, last_evm_sequence FROM ${tables.of('blocks')} WHERE height <= {height:UInt64} ORDER BY height DESC LIMIT 1`,
    { height },
    { name: 'tx.cursor', ...call },
  );
  if (block === undefined) return nothing;
  const [internal] = await database.rows<{ height: number; last_sequence: number }>(
    `SELECT height, last_sequence FROM ${tables.of('internal_blocks')} WHERE height <= {height:UInt64} ORDER BY height DESC LIMIT 1`,
    { height: Math.min(block.height, internal_height) },
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
