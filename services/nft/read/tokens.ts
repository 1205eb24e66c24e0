import { tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/keys.js';
import { textsOfToken } from '../store/lookups.js';
import { tokenName } from '../store/types.js';
import { lookUpStatesInHistory } from './history.js';
import type { Reading } from './reader.js';

/** A token as the tables know it. */
export interface TokenRow {
  readonly collection: string;
  readonly id_key: string;
  readonly object: string;
  readonly owner: string;
  readonly uri: string;
  readonly burnt: boolean;
  readonly height: number;
  readonly timestamp: string;
  readonly tx_count: number;
}

interface StateRow extends TokenRow {
  readonly minted_at: number;
  readonly at: number;
}

/** A token's place. */
export interface TokenPlace {
  readonly collection: string;
  readonly id_key: string;
}

/** The tokens at places, by name; those that never were are missing. */
export async function readTokens(
  reading: Reading,
  places: readonly TokenPlace[],
): Promise<Map<string, TokenRow>> {
  const { database, tables, call } = reading;
  const inPlaces = '(collection, id_key) IN {keys:Array(Tuple(String, String))}';
  const [states, uris] = await Promise.all([
    inParts(places, textsOfToken, (some) =>
      database.rows<StateRow>(
        `SELECT collection, id_key, object, owner, uri, burnt, minted_at, height, timestamp, tx_count, at FROM ${tables.of('tokens')} WHERE ${inPlaces}`,
        { keys: keysOf(some) },
        { name: 'nft.tokens', ...call },
      ),
    ),
    inParts(places, textsOfToken, (some) =>
      database.rows<{ collection: string; id_key: string; uri: string; at: number }>(
        `SELECT collection, id_key, argMax(u.uri, u.version) AS uri, argMax(u.at, u.version) AS at FROM ${tables.of('uris')} AS u WHERE ${inPlaces} GROUP BY collection, id_key`,
        { keys: keysOf(some) },
        { name: 'nft.uris', ...call },
      ),
    ),
  ]);
  const newest = await settle(reading, states);
  for (const { collection, id_key, uri, at } of uris) {
    const name = tokenName(collection, id_key);
    const state = newest.get(name);
    // What the node said of an earlier token of this id is void.
    if (state !== undefined && at >= state.minted_at) newest.set(name, { ...state, uri });
  }
  return newest;
}

/** Places as a parameter has them. */
const keysOf = (places: readonly TokenPlace[]) =>
  places.map(({ collection, id_key }) => tuple([collection, id_key]));

/** What an item of a page takes beside its texts, in bytes. */
const itemBytes = 500;

/**
 * Bytes of the texts of tokens, in the order of their places. Lengths are columns of their own to the engine: no text is
 * read for this.
 */
export async function readTokenSizes(
  { database, tables, call }: Reading,
  places: readonly TokenPlace[],
): Promise<number[]> {
  const inPlaces = '(collection, id_key) IN {keys:Array(Tuple(String, String))}';
  const rows = await inParts(places, textsOfToken, (some) =>
    database.rows<TokenPlace & { size: number }>(
      `SELECT collection, id_key, max(size) AS size FROM (SELECT collection, id_key, length(t.uri) + length(t.owner) AS size FROM ${tables.of('tokens')} AS t WHERE ${inPlaces} UNION ALL SELECT collection, id_key, length(u.uri) AS size FROM ${tables.of('uris')} AS u WHERE ${inPlaces}) GROUP BY collection, id_key`,
      { keys: keysOf(some) },
      { name: 'nft.token_sizes', ...call },
    ),
  );
  const sizes = new Map(rows.map(({ collection, id_key, size }) => [tokenName(collection, id_key), size]));
  return places.map(
    ({ collection, id_key }) =>
      (sizes.get(tokenName(collection, id_key)) ?? 0) + Buffer.byteLength(id_key) + itemBytes,
  );
}

/** The rows that count. Where only one above the end is left, the history says how it was. */
async function settle(reading: Reading, rows: readonly StateRow[]): Promise<Map<string, StateRow>> {
  const newest = new Map<string, StateRow>();
  const above = new Map<string, StateRow>();
  for (const row of rows) {
    const name = tokenName(row.collection, row.id_key);
    const found = row.at <= reading.end ? newest : above;
    if ((found.get(name)?.at ?? -1) < row.at) found.set(name, row);
  }
  const lost = [...above].filter(([name]) => !newest.has(name)).map(([, row]) => row);
  for (const [name, state] of await lookUpStatesInHistory(reading, lost)) newest.set(name, state);
  return newest;
}
