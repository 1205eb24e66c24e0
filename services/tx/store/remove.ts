import type { Database } from '../../common/clickhouse/database.js';
import { removeFromAll } from '../../common/clickhouse/remove.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Position } from './cursor.js';
import { accountLists, type Kind, type TableName, type Tables } from './tables.js';

const kinds = Object.keys(accountLists) as Kind[];
const above = (kind: Kind): string => `sequence > {${kind}:UInt64}`;
const listsOf = (kind: Kind): string => `'${accountLists[kind].named}', '${accountLists[kind].sent}'`;

const bodiesAbove = kinds.map((kind) => `(kind = '${kind}' AND ${above(kind)})`).join(' OR ');
const itemsAbove = kinds.map((kind) => `(list IN (${listsOf(kind)}) AND ${above(kind)})`).join(' OR ');

/**
 * What lies above a position, table by table. The cursors go first: what is above them does
 * not exist, so a removal that is cut short is finished by the next one.
 */
export const aboveCursor: readonly (readonly [TableName, string])[] = [
  ['internal_blocks', 'height > {internal_height:UInt64}'],
  ['blocks', 'height > {height:UInt64}'],
  ['bodies', bodiesAbove],
  ['hashes', bodiesAbove],
  ['account_items', itemsAbove],
  ['account_heads', itemsAbove],
  ['msg_set_txs', above('tx')],
  ['msg_sets', 'first_sequence > {tx:UInt64}'],
  ['stores', 'height > {height:UInt64}'],
];

/** The placeholders of {@link aboveCursor}. */
export const paramsOf = ({ height, internal_height, last }: Position) => ({
  height,
  internal_height,
  ...last,
});

/** Removes every row above a position. @returns how many. */
export async function removeAbove(
  database: Database,
  tables: Tables,
  position: Position,
  fault: FaultPoint,
): Promise<number> {
  const options = { database, tables, name: 'tx.remove_above', fault };
  const removed = await removeFromAll(options, aboveCursor, paramsOf(position));
  await fault('removed');
  return removed;
}
