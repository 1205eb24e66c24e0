import { tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/keys.js';
import { textsOfToken } from '../store/lookups.js';
import { replay } from '../store/token.js';
import { type Change, type TokenState, tokenName } from '../store/types.js';
import type { Reading } from './reader.js';

const columns =
  'at, collection, id_key, kind, previous_owner, owner, uri, object, ord, listed, tx_hash, timestamp';

/** How tokens were at the end of the chain that is read, worked out from their changes; by name. */
export async function lookUpStatesInHistory(
  { database, tables, end, call }: Reading,
  places: readonly { readonly collection: string; readonly id_key: string }[],
): Promise<Map<string, TokenState & { collection: string; id_key: string }>> {
  const states = new Map<string, TokenState & { collection: string; id_key: string }>();
  const changes = await inParts(places, textsOfToken, (some) =>
    database.rows<Change>(
      `SELECT ${columns} FROM ${tables.of('history')} WHERE (collection, id_key) IN {keys:Array(Tuple(String, String))} AND at <= {end:UInt64} ORDER BY at`,
      { keys: some.map(({ collection, id_key }) => tuple([collection, id_key])), end },
      { name: 'nft.states_in_history', ...call },
    ),
  );
  for (const change of changes) {
    const { collection, id_key } = change;
    const name = tokenName(collection, id_key);
    states.set(name, { collection, id_key, ...replay(states.get(name), change) });
  }
  return states;
}

/** A tx of a token. */
export interface TokenTx {
  readonly ord: number;
  readonly tx_hash: string;
  readonly at: number;
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
    `SELECT ord, any(h.tx_hash) AS tx_hash, max(h.at) AS at FROM ${tables.of('history')} AS h WHERE collection = {collection:String} AND id_key = {id_key:String} AND ord BETWEEN {from:UInt64} AND {to:UInt64} AND listed AND h.at <= {end:UInt64} GROUP BY ord ORDER BY ord`,
    { collection, id_key, from, to, end },
    { name: 'nft.token_txs', ...call },
  );
}
