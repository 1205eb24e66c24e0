import type { Target } from '../../common/clickhouse/migrate.js';
import { namesOf, type TableNames } from '../../common/clickhouse/tables.js';

/** The tables of the schema folder. */
export type TableName =
  | 'chain'
  | 'blocks'
  | 'cuts'
  | 'changes'
  | 'history'
  | 'tokens'
  | 'items'
  | 'counts'
  | 'editions'
  | 'objects'
  | 'contracts'
  | 'births'
  | 'classes'
  | 'asks'
  | 'asked'
  | 'jobs'
  | 'collections'
  | 'collection_order'
  | 'uris';

/** The tables that tables rebuilt from a later height begin with: all but what is said of the tables themselves. */
export const copiedTables: readonly TableName[] = [
  'changes',
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
  'asked',
  'jobs',
  'collections',
  'collection_order',
  'uris',
  'blocks',
];

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);

/** The lists of tokens, by token id and by height. */
export type ListName =
  | 'collection'
  | 'owner'
  | 'holding'
  | 'collection_height'
  | 'owner_height'
  | 'holding_height';

/** The scope of what an owner has in a collection. */
export const holdingOf = (owner: string, collection: string): string => `${owner}/${collection}`;

/** Whether an owner is an account: others have no lists. */
export const isAccount = (owner: string): boolean => owner !== '' && !owner.startsWith('?');
