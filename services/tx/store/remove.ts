import { removeFromAll } from '../../common/clickhouse/remove.js';
import type { FaultPoint } from '../../common/fault.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import type { Position } from './cursor.js';
import { accountLists, type Kind, type TableName, type Tables } from './tables.js';

const kinds = Object.keys(accountLists) as Kind[];
const above = (kind: Kind): string => `sequence > {${kind}:UInt64}`;
const listsOf = (kind: Kind): string => `'${accountLists[kind].named}', '${accountLists[kind].sent}'`;

const bodiesAbove = kinds.map((kind) => `(kind = '${kind}' AND ${above(kind)})`).join(' OR ');

/** The items of account lists, or the heads of such lists, above a position. */
export const itemsAbove = kinds.map((kind) => `(list IN (${listsOf(kind)}) AND ${above(kind)})`).join(' OR ');

/**
 * What lies above a position, table by table. The cursors go first: what is above them does
 * not exist, so a removal that is cut short is finished by the next one. The items of account
 * lists go last: they tell whose heads have to be put right, and before they go that is done.
 */
export const aboveCursor: readonly (readonly [TableName, string])[] = [
  ['internal_blocks', 'height > {internal_height:UInt64}'],
  ['blocks', 'height > {height:UInt64}'],
  ['bodies', bodiesAbove],
  ['hashes', bodiesAbove],
  ['msg_set_txs', above('tx')],
  ['msg_sets', 'first_sequence > {tx:UInt64}'],
  ['stores', 'height > {height:UInt64}'],
  ['account_heads', itemsAbove],
  ['account_items', itemsAbove],
];

/** The placeholders of {@link aboveCursor}. */
export const paramsOf = ({ height, internal_height, last }: Position) => ({
  height,
  internal_height,
  ...last,
});

/** How rows are removed. */
export interface RemoveAbove {
  readonly database: FencedDatabase;
  readonly tables: Tables;
  readonly fault: FaultPoint;
  /** Told before the first row goes, and not when there is none. */
  readonly begin: () => Promise<void>;
  /** Puts the heads right of the lists that have items above the position: those above it are gone. */
  readonly putHeadsRight: () => Promise<void>;
}

/** Removes every row above a position. @returns how many. */
export async function removeAbove(
  { database, tables, fault, begin, putHeadsRight }: RemoveAbove,
  position: Position,
): Promise<number> {
  const onRemove = async (table: TableName): Promise<void> => {
    await begin();
    if (table === 'account_items') await putHeadsRight();
  };
  const options = { database, tables, name: 'tx.remove_above', fault, onRemove };
  const removed = await removeFromAll(options, aboveCursor, paramsOf(position));
  await fault('removed');
  return removed;
}
