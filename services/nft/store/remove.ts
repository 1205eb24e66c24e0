import type { Database } from '../../common/clickhouse/database.js';
import { removeFromAll, removeRows } from '../../common/clickhouse/remove.js';
import type { FaultPoint } from '../../common/fault.js';
import { endOf } from './place.js';
import type { TableName, Tables } from './tables.js';

const above = 'at > {end:UInt64}';

/**
 * Tables in the order in which they are cut: the cursor was lowered before, and the changes
 * go last of all, by themselves, since what they tell of is made again first.
 */
const cut: readonly TableName[] = [
  'history',
  'tokens',
  'items',
  'counts',
  'editions',
  'objects',
  'contracts',
  'births',
  'classes',
  'asks',
  'uris',
  'jobs',
  'collection_order',
  'collections',
];

/** Removes the rows of a table that fulfil a condition. @returns how many. */
export const removeWhere = (
  database: Database,
  tables: Tables,
  table: TableName,
  condition: string,
  params: Readonly<Record<string, unknown>>,
  fault: FaultPoint,
): Promise<number> => removeRows({ database, tables, name: 'nft.remove', fault }, table, condition, params);

/** Lowers the cursor: what lies above it does not exist from here on. */
export function removeBlocksAbove(
  database: Database,
  tables: Tables,
  height: number,
  fault: FaultPoint,
): Promise<number> {
  return removeWhere(database, tables, 'blocks', 'height > {height:UInt64}', { height }, fault);
}

/** Removes what the blocks above a height had caused, but for the changes themselves. */
export function removeCausedAbove(
  database: Database,
  tables: Tables,
  height: number,
  fault: FaultPoint,
): Promise<number> {
  const conditions = cut.map((table) => [table, above] as const);
  return removeFromAll({ database, tables, name: 'nft.remove', fault }, conditions, { end: endOf(height) });
}

/** Removes the changes above a height: nothing is left then to be made again. */
export function removeChangesAbove(
  database: Database,
  tables: Tables,
  height: number,
  fault: FaultPoint,
): Promise<number> {
  return removeWhere(database, tables, 'changes', above, { end: endOf(height) }, fault);
}
