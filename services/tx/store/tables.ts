import { namesOf, type TableNames } from '../../common/clickhouse/database.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Conditions } from '../../common/clickhouse/remove.js';
import { type HeadTable, ofService } from '../../common/writer/head-table.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
import { type Position, readPosition } from './cursor.js';

/** What has a body: a Cosmos tx, an EVM receipt or a call frame. */
export type Kind = 'tx' | 'evm_tx' | 'internal_tx';

/** The lists that an account has. */
export type AccountList = 'tx' | 'signed_tx' | 'evm_tx' | 'sent_evm_tx' | 'internal_tx' | 'sent_internal_tx';

/** The numbers of kinds in the tables. */
export const numberOfKind: Readonly<Record<Kind, number>> = { tx: 1, evm_tx: 2, internal_tx: 3 };

/** The numbers of lists in the tables. */
export const numberOfList: Readonly<Record<AccountList, number>> = {
  tx: 1,
  signed_tx: 2,
  evm_tx: 3,
  sent_evm_tx: 4,
  internal_tx: 5,
  sent_internal_tx: 6,
};

/** The lists of a kind: all that names an account, and what the account signed or sent. */
export const accountLists: Readonly<
  Record<Kind, { readonly named: AccountList; readonly sent: AccountList }>
> = {
  tx: { named: 'tx', sent: 'signed_tx' },
  evm_tx: { named: 'evm_tx', sent: 'sent_evm_tx' },
  internal_tx: { named: 'internal_tx', sent: 'sent_internal_tx' },
};

/** The kind of what a list holds. */
export function kindOfList(list: AccountList): Kind {
  return (Object.keys(accountLists) as Kind[]).find((kind) =>
    [accountLists[kind].named, accountLists[kind].sent].includes(list),
  ) as Kind;
}

/** Append-only tables: what happened, in its order. */
export type FactName =
  | 'blocks'
  | 'internal_blocks'
  | 'bodies'
  | 'hashes'
  | 'account_items'
  | 'msg_sets'
  | 'msg_set_txs'
  | 'stores';

/** The tables of the schema folder; `cuts` is only read of earlier versions. */
export type TableName = FactName | 'list_ends' | 'head' | 'chain' | 'cuts';

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);

/** How far they are. */
export const headOf = (tables: Tables): HeadTable<Position> => ({
  ...ofService('tx', tables),
  columns: ['height', 'hash', 'internal_height', 'tx', 'evm_tx', 'internal_tx'],
  toColumns: ({ last, ...position }) => ({ ...position, ...last }),
  fromColumns: ({ height, hash, internal_height, tx, evm_tx, internal_tx }) => ({
    height: Number(height),
    hash: String(hash),
    internal_height: Number(internal_height),
    last: { tx: Number(tx), evm_tx: Number(evm_tx), internal_tx: Number(internal_tx) },
  }),
  positionAt: (database, height, call, newest) =>
    readPosition(database, tables, height, newest?.internal_height, call),
});

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
