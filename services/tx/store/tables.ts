import type { Target } from '../../common/clickhouse/migrate.js';
import { namesOf, type TableNames } from '../../common/clickhouse/tables.js';
import { type HeadTable, ofService } from '../../common/writer/head-table.js';
import { type Position, readPosition } from './cursor.js';

/** What has a body: a Cosmos tx, an EVM receipt or a call frame. */
export type Kind = 'tx' | 'evm_tx' | 'internal_tx';

/** The lists that an account has. */
export type AccountList = 'tx' | 'signed_tx' | 'evm_tx' | 'sent_evm_tx' | 'internal_tx' | 'sent_internal_tx';

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
