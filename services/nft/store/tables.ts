import type { Target } from '../../common/clickhouse/migrate.js';

/** The tables of the schema folder. */
export type TableName =
  | 'chain'
  | 'blocks'
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

/** The tables that tables rebuilt from a later height begin with: all but the one that says which chain it is. */
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

/** The names of tables in statements. */
export interface Tables {
  /** Where rows are read and inserted. */
  readonly of: (name: TableName) => string;
  /** Where rows are removed: a Distributed table cannot do it, so those that hold the rows. */
  readonly removable: (name: TableName) => string;
}

/** The names of the tables of a target. */
export function tablesOf({ database, cluster }: Target): Tables {
  const of = (name: TableName): string => `${database}.${name}`;
  return {
    of,
    removable: (name) => (cluster === '' ? of(name) : `${of(name)}_local ON CLUSTER '${cluster}'`),
  };
}

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
