import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { densePage } from '../../common/page/dense.js';
import { heightOf } from '../store/token.js';
import { tokenKey } from '../token-key.js';
import type { Reading } from './reader.js';
import { readShown } from './shown.js';

/** A page of a token's txs. */
export interface TokenTxPage {
  /** 64 lower-case hex digits each, in the order of the page. */
  readonly hashes: string[];
  /** Highest block that one of them is in; 0 when there are none. */
  readonly height: number;
  readonly pagination: PageResponse;
}

/** The txs of a token, also of one that is burnt; none when its collection is not shown. */
export async function listTokenTxs(
  reading: Reading,
  collection: string,
  token_id: string,
  request: PageRequest,
): Promise<TokenTxPage> {
  const id_key = tokenKey(token_id);
  const [shown, txs_of_token] = await Promise.all([
    readShown(reading, [collection]),
    countTokenTxs(reading, collection, id_key),
  ]);
  const count = shown.has(collection) ? txs_of_token : 0;
  const { from, to, pagination } = densePage(request, {
    name: `txs/${collection}/${id_key}`,
    first: 1,
    last: count,
  });
  const txs = from > to ? [] : await readTokenTxs(reading, collection, id_key, from, to);
  if (request.reverse) txs.reverse();
  return {
    hashes: txs.map(({ tx_hash }) => tx_hash),
    height: Math.max(0, ...txs.map(({ at }) => heightOf(at))),
    pagination,
  };
}

/** A tx of a token. */
interface TokenTx {
  readonly ord: number;
  readonly tx_hash: string;
  readonly at: number;
}

/** How many txs a token has at the end of a reading: the last of its facts says it. */
async function countTokenTxs(
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
function readTokenTxs(
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
