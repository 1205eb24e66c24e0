import type { Reading } from './reader.js';

/** A tx of a token. */
export interface TokenTx {
  readonly ord: number;
  readonly tx_hash: string;
  readonly at: number;
}

/** How many txs a token has at the end of a reading: the last of its facts says it. */
export async function countTokenTxs(
  { database, tables, end, call }: Reading,
  collection: string,
  id_key: string,
): Promise<number> {
  const [last] = await database.rows<{ n: number }>(
    `SELECT h.ord AS n
     FROM ${tables.of('history')} AS h
     WHERE collection = {collection:String} AND id_key = {id_key:String} AND h.at <= {end:UInt64}
     ORDER BY collection DESC, id_key DESC, h.ord DESC, h.at DESC
     LIMIT 1`,
    { collection, id_key, end },
    { name: 'nft.token_tx_count', ...call },
  );
  return last?.n ?? 0;
}

/** A token's txs at positions `from` to `to` of its list, ascending. */
export function readTokenTxs(
  { database, tables, end, call }: Reading,
  collection: string,
  id_key: string,
  from: number,
  to: number,
): Promise<TokenTx[]> {
  return database.rows<TokenTx>(
    `SELECT ord, any(h.tx_hash) AS tx_hash, max(h.at) AS at
     FROM ${tables.of('history')} AS h
     WHERE collection = {collection:String} AND id_key = {id_key:String}
       AND ord BETWEEN {from:UInt64} AND {to:UInt64} AND listed AND h.at <= {end:UInt64}
     GROUP BY ord
     ORDER BY ord`,
    { collection, id_key, from, to, end },
    { name: 'nft.token_txs', ...call },
  );
}
