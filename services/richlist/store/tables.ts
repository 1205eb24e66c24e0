import type { Target } from '../../common/clickhouse/migrate.js';
import { namesOf, type TableNames } from '../../common/clickhouse/tables.js';
import { asColumns, type HeadTable, ofService } from '../../common/writer/head-table.js';
import { type Position, readPosition } from './cursor.js';

/** Append-only tables: what happened, in its order. */
export type FactName = 'blocks' | 'changes' | 'tokens' | 'denoms' | 'checks';

/** What follows from the facts, see views.ts. */
export type ViewName = 'account_balances' | 'holder_list' | 'holder_counts';

/** The tables of the schema folder. */
export type TableName = FactName | ViewName | 'chain' | 'head' | 'drifting' | 'cuts';

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);

/** How far they are. */
export const headOf = (tables: Tables): HeadTable<Position> => ({
  ...ofService('richlist', tables),
  ...asColumns<Position>(['height', 'hash', 'last_ord', 'seed_height']),
  positionAt: (database, height, call) => readPosition(database, tables, height, call),
});
