import { namesOf, type TableNames } from '../../common/clickhouse/database.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Conditions } from '../../common/clickhouse/remove.js';
import { asColumns, type HeadTable, ofService } from '../../common/writer/head-table.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
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

/** The facts above the head, table by table; the changes, which the views follow from, come last. */
export const factsAbove: Conditions<TableName> = [
  ['blocks', 'height > {height:UInt64} OR last_ord > {last_ord:UInt64}'],
  ['checks', 'ord > {last_ord:UInt64}'],
  ['denoms', 'ord > {last_ord:UInt64}'],
  ['tokens', 'ord > {last_ord:UInt64}'],
  ['changes', 'ord > {last_ord:UInt64}'],
];

/** Everything that follows from the changes of balances. */
export const richlistViews: ViewSet<TableName> = {
  facts: 'changes',
  above: 'f.ord > {last_ord:UInt64}',
  views: [
    {
      table: 'account_balances',
      key: ['token', 'account'],
      values: ['amount', 'height', 'source', 'ord'],
      definition: readDefinition('richlist', 'account_balances'),
      touched: 'SELECT DISTINCT f.token AS token, f.account AS account FROM {{changes}} AS f WHERE {{where}}',
      facts: ['token', 'account'],
    },
    {
      table: 'holder_list',
      key: ['token', 'place', 'account'],
      values: [],
      definition: readDefinition('richlist', 'holder_list'),
      touched: `SELECT DISTINCT f.token AS token, bitNot(f.amount) AS place, f.account AS account
        FROM {{changes}} AS f
        WHERE f.amount > 0 AND {{where}}`,
      facts: ['token', 'account'],
    },
    {
      table: 'holder_counts',
      key: ['token'],
      values: ['holder_count'],
      definition: readDefinition('richlist', 'holder_counts'),
      touched: 'SELECT DISTINCT f.token AS token FROM {{changes}} AS f WHERE {{where}}',
      facts: ['token'],
    },
  ],
};
