import type { Conditions } from '../../common/clickhouse/remove.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
import type { TableName } from './tables.js';

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
