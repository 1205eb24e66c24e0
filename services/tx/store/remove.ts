import type { Database } from '../../common/clickhouse/database.js';
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

/**
 * Removes every row above a position. Looks first, because a DELETE that finds nothing is
 * still slow.
 *
 * @returns how many rows were removed.
 */
export async function removeAbove(
  database: Database,
  tables: Tables,
  position: Position,
  fault: FaultPoint,
): Promise<number> {
  const params = paramsOf(position);
  let removed = 0;
  for (const [name, condition] of aboveCursor) {
    const options = { name: 'tx.remove_above', priority: 'write' as const };
    const [found] = await database.rows<{ n: number }>(
      `SELECT count() AS n FROM ${tables.of(name)} WHERE ${condition}`,
      params,
      options,
    );
    if (found === undefined || found.n === 0) continue;
    await fault(`remove ${name}`);
    // Lightweight: it marks rows, where ALTER TABLE DELETE would write whole parts anew.
    await database.command(`DELETE FROM ${tables.removable(name)} WHERE ${condition}`, params, options);
    removed += found.n;
  }
  await fault('removed');
  return removed;
}
