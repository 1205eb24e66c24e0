import type { Target } from '../../common/clickhouse/migrate.js';
import { namesOf, type TableNames } from '../../common/clickhouse/tables.js';
import { asColumns, type HeadTable, ofService } from '../../common/writer/head-table.js';
import { type Position, readPosition } from './cursor.js';

/** Append-only tables: what happened, in the order of the chain, and what the node said. */
export type FactName =
  | 'blocks'
  | 'changes'
  | 'history'
  | 'account_history'
  | 'objects'
  | 'contracts'
  | 'births'
  | 'classes'
  | 'asks'
  | 'token_uris'
  | 'collection_names';

/** What follows from the facts, see views.ts. */
export type ViewName =
  | 'token_states'
  | 'token_lists'
  | 'token_counts'
  | 'shown_collections'
  | 'collection_list';

/** What is to be asked of the node. */
export type QueueName = 'asked' | 'jobs';

/** Tables that earlier versions wrote, and that an upgrade reads. */
export type EarlierName = 'cuts' | 'collections' | 'uris';

/** The tables of the schema folder. */
export type TableName = FactName | ViewName | QueueName | EarlierName | 'chain' | 'head';

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);

/** How far they are. */
export const headOf = (tables: Tables): HeadTable<Position> => ({
  ...ofService('nft', tables),
  ...asColumns<Position>(['height', 'hash', 'details']),
  positionAt: (database, height, call, newest) =>
    readPosition(database, tables, height, newest?.details ?? 0, call),
});

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
