import { endOf, heightOf } from '../store/place.js';
import type { Change } from '../store/types.js';
import type { Reading } from './reader.js';

/*
 * The past: who owned what after a block. Every change is kept, so that each of these is one
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

/** Rows that one statement of a stream reads. */
const rowsAtOnce = 5_000;

/**
 * The tokens that an account owned at the end of a reading, by the block of their last change
 * before it. An item of the list by height is there from its height until it is gone: one that
 * is gone after the end was there at the end.
 */
export async function* streamAccountTokens(
  { database, tables, end, call }: Reading,
  account: string,
): AsyncGenerator<PastToken[]> {
  let after: PastToken = { height: 0, id_key: '', collection: '' };
  for (;;) {
    const rows = await database.rows<PastToken & { there: boolean }>(
      `SELECT height, id_key, collection, toBool(if(countIf(i.at <= {end:UInt64}) > 0, NOT argMaxIf(i.gone, i.at, i.at <= {end:UInt64}), true)) AS there FROM ${tables.of('items')} AS i WHERE list = 'owner_height' AND scope >= {account:String} AND scope < {beyond:String} AND height <= {height:UInt64} AND (height > {after_height:UInt64} OR (height = {after_height:UInt64} AND (id_key > {after_key:String} OR (id_key = {after_key:String} AND collection > {after_collection:String})))) GROUP BY height, id_key, collection ORDER BY height, id_key, collection LIMIT {limit:UInt64}`,
      {
        // Every edition of the list: each has what came and went while it was the last.
        ...{ account, beyond: `${account}$`, end, height: heightOf(end), limit: rowsAtOnce },
        ...{ after_height: after.height, after_key: after.id_key, after_collection: after.collection },
      },
      { name: 'nft.past_account', ...call },
    );
    const found = rows.filter(({ there }) => there);
    if (found.length > 0) yield found;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last;
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
      `SELECT id_key, argMax(h.owner, h.at) AS owner, argMax(h.kind, h.at) AS kind FROM ${tables.of('history')} AS h WHERE collection = {collection:String} AND id_key > {after:String} AND at <= {end:UInt64} AND h.kind IN ('mint', 'transfer', 'burn') GROUP BY id_key ORDER BY id_key LIMIT {limit:UInt64}`,
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

/** The changes of a window of blocks in the order of the chain, of one collection or of all. */
export async function* streamChanges(
  { database, tables, end, call }: Reading,
  from_height: number,
  collection: string,
): AsyncGenerator<Change[]> {
  const only = collection === '' ? '' : 'AND collection = {collection:String}';
  let after = from_height === 0 ? 0 : endOf(from_height - 1);
  for (;;) {
    const rows = await database.rows<Change>(
      `SELECT at, collection, id_key, kind, previous_owner, owner, uri, object, ord, listed, tx_hash, timestamp FROM ${tables.of('changes')} WHERE at > {after:UInt64} AND at <= {end:UInt64} AND kind != 'named' ${only} ORDER BY at LIMIT {limit:UInt64}`,
      { after, end, limit: rowsAtOnce, ...(collection === '' ? {} : { collection }) },
      { name: 'nft.changes', ...call },
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsAtOnce) return;
    after = last.at;
  }
}
