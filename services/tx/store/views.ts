import type { Conditions } from '../../common/clickhouse/remove.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
import { accountLists, type Kind, type TableName } from './tables.js';

const kinds = Object.keys(accountLists) as Kind[];

/** A condition for rows above the head, kind by kind: of tables that hold several kinds. */
const ofKinds = (condition: (kind: Kind) => string): string =>
  kinds.map((kind) => `(${condition(kind)} AND sequence > {${kind}:UInt64})`).join(' OR ');

const bodiesAbove = ofKinds((kind) => `kind = '${kind}'`);
const itemsAbove = ofKinds((kind) => `list IN ('${accountLists[kind].named}', '${accountLists[kind].sent}')`);

/** The facts above the head, table by table; the items of account lists, which the view follows from, come last. */
export const factsAbove: Conditions<TableName> = [
  ['internal_blocks', 'height > {internal_height:UInt64}'],
  ['blocks', 'height > {height:UInt64}'],
  ['bodies', bodiesAbove],
  ['hashes', bodiesAbove],
  ['msg_set_txs', 'sequence > {tx:UInt64}'],
  ['msg_sets', 'first_sequence > {tx:UInt64}'],
  ['stores', 'height > {height:UInt64}'],
  ['account_items', itemsAbove],
];

/** What follows from the items of account lists. */
export const txViews: ViewSet<TableName> = {
  facts: 'account_items',
  above: itemsAbove,
  views: [
    {
      table: 'list_ends',
      key: ['list', 'account'],
      values: ['length', 'latest'],
      definition: readDefinition('tx', 'list_ends'),
      touched:
        'SELECT DISTINCT f.list AS list, f.account AS account FROM {{account_items}} AS f WHERE {{where}}',
      facts: ['list', 'account'],
    },
  ],
};
