import { endOf, heightOf } from '../store/token.js';
import type { Change } from '../store/types.js';
import type { Reading } from './reader.js';

/*
 * The past: who owned what after a block. It is read from facts alone: every change is kept, so that each of these is one
 * range read, whatever happened since.
 */

/** Who had a token, and since which block. */
export interface PastOwner {
  readonly owner: string;
  readonly since: number;
}

/** Who owned a token at the end of a reading; undefined when it did not exist then. */
export async function readOwner(
  { database, tables, end, call }: Reading,
  collection: string,
  id_key: string,
): Promise<PastOwner | undefined> {
  const rows = await database.rows<Pick<Change, 'owner' | 'at' | 'kind'>>(
    `SELECT owner, at, kind FROM ${tables.of('history')} WHERE collection = {collection:String} AND id_key = {id_key:String} AND at <= {end:UInt64} AND kind IN ('mint', 'transfer', 'burn') ORDER BY ord DESC, at DESC LIMIT 1`,
    { collection, id_key, end },
    { name: 'nft.past_owner', ...call },
  );
  const [last] = rows;
  if (last === undefined || last.kind === 'burn') return undefined;
  return { owner: last.owner, since: heightOf(last.at) };
}

/** A token that an account had. */
export interface PastToken {
  readonly collection: string;
  readonly id_key: string;
  readonly height: number;
}

/** Rows that one statement of a stream reads: ids and texts in place of owners may be kilobytes. */
const rowsAtOnce = 2_000;

/** The tokens that an account owned at the end of a reading, each with the block of its last change before it. */
export async function* streamAccountTokens(
  { database, tables, end, call }: Reading,
  account: string,
): AsyncGenerator<PastToken[]> {
  let [after_collection, after_key] = ['', ''];
  for (;;) {
    const rows = await database.rows<Omit<PastToken, 'height'> & { at: number; held: number }>(
      `SELECT h.collection AS collection, h.id_key AS id_key, max(h.at) AS at, sum(h.change) AS held
       FROM ${tables.of('account_history')} AS h
       WHERE h.account = {account:String} AND h.at <= {end:UInt64} AND (
         h.collection > {after_collection:String}
         OR (h.collection = {after_collection:String} AND h.id_key > {after_key:String})
       )
       GROUP BY h.collection, h.id_key
       ORDER BY collection, id_key
       LIMIT {limit:UInt64}
       SETTINGS optimize_aggregation_in_order = 1`,
      { account, end, after_collection, after_key, limit: rowsAtOnce },
      { name: 'nft.past_account', ...call },
    );
    const found = rows.filter(({ held }) => held > 0);
    if (found.length > 0)
      yield found.map(({ collection, id_key, at }) => ({ collection, id_key, height: heightOf(at) }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    [after_collection, after_key] = [last.collection, last.id_key];
  }
}

/** A token of a collection, with its owner. */
export interface PastHolding {
  readonly id_key: string;
  readonly owner: string;
}

/** The tokens of a collection and their owners at the end of a reading, by token id. */
export async function* streamCollectionTokens(
  { database, tables, end, call }: Reading,
  collection: string,
): AsyncGenerator<PastHolding[]> {
  let after = '';
  for (;;) {
    const rows = await database.rows<PastHolding & { kind: string }>(
      `SELECT h.id_key AS id_key, argMax(h.owner, h.at) AS owner, argMax(h.kind, h.at) AS kind
       FROM ${tables.of('history')} AS h
       WHERE h.collection = {collection:String} AND h.id_key > {after:String} AND h.at <= {end:UInt64}
         AND h.kind IN ('mint', 'transfer', 'burn')
       GROUP BY h.collection, h.id_key
       ORDER BY h.collection, h.id_key
       LIMIT {limit:UInt64}
       SETTINGS optimize_aggregation_in_order = 1`,
      { collection, after, end, limit: rowsAtOnce },
      { name: 'nft.past_collection', ...call },
    );
    const found = rows.filter(({ kind }) => kind !== 'burn');
    if (found.length > 0) yield found;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last.id_key;
  }
}

/** A change as a stream tells it. */
export type PastChange = Omit<Change, 'uri' | 'object' | 'ord' | 'listed'>;

/** The changes of a window of blocks in the order of the chain, of one collection or of all. */
export async function* streamChanges(
  { database, tables, end, call }: Reading,
  from_height: number,
  collection: string,
): AsyncGenerator<PastChange[]> {
  const only = collection === '' ? '' : 'AND collection = {collection:String}';
  let after = from_height === 0 ? 0 : endOf(from_height - 1);
  for (;;) {
    const rows = await database.rows<PastChange>(
      `SELECT at, collection, id_key, kind, previous_owner, owner, tx_hash, timestamp
       FROM ${tables.of('changes')}
       WHERE at > {after:UInt64} AND at <= {end:UInt64} AND kind != 'named' ${only}
       ORDER BY at
       LIMIT {limit:UInt64}`,
      { after, end, limit: rowsAtOnce, ...(collection === '' ? {} : { collection }) },
      { name: 'nft.changes', ...call },
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last.at;
  }
}
