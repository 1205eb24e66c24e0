import { type RemoveOptions, removeFromAll, removeRows } from '../../common/clickhouse/remove.js';
import { endOf } from './place.js';
import type { TableName } from './tables.js';

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

/** Where rows are removed. */
export type RemoveFrom = Omit<RemoveOptions<TableName>, 'name'>;

const name = 'nft.remove';

/** Lowers the cursor: what lies above it does not exist from here on. */
export const removeBlocksAbove = (from: RemoveFrom, height: number): Promise<number> =>
  removeRows({ ...from, name }, 'blocks', 'height > {height:UInt64}', { height });

/** Removes what the blocks above a height had caused, but for the changes themselves. */
export function removeCausedAbove(from: RemoveFrom, height: number): Promise<number> {
  const conditions = cut.map((table) => [table, above] as const);
  return removeFromAll({ ...from, name }, conditions, { end: endOf(height) });
}

/** Removes the changes above a height: nothing is left then to be made again. */
export const removeChangesAbove = (from: RemoveFrom, height: number): Promise<number> =>
  removeRows({ ...from, name }, 'changes', above, { end: endOf(height) });
