import { tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/literals.js';
import { newestRowsSql } from '../../common/page/view.js';
import { keysIn, textsOfToken } from '../store/lookups.js';
import { tokenName } from '../store/types.js';
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
}

interface StateRow extends TokenRow {
  readonly minted_at: number;
}

/** A token's place. */
export interface TokenPlace {
  readonly collection: string;
  readonly id_key: string;
}

/** What the node said of a token. */
export interface SaidUri extends TokenPlace {
  readonly uri: string;
  readonly is_void: boolean;
  /** Position of what made us ask. */
  readonly at: number;
}

const stateColumns = [
  ...['collection', 'id_key', 'object', 'owner', 'uri', 'burnt', 'minted_at', 'height', 'timestamp'],
];

/** Tokens as a parameter has them. */
const keysOf = (places: readonly TokenPlace[]) =>
  places.map(({ collection, id_key }) => tuple([collection, id_key]));

/**
 * What the node said of tokens last, up to the end of a reading, whether or not it is void by now. A token may have had any
 * number of uris: it is found first which of them counts, and no other one is read.
 */
export const readSaidUris = (
  { database, tables, end, call }: Pick<Reading, 'database' | 'tables' | 'end' | 'call'>,
  places: readonly TokenPlace[],
): Promise<SaidUri[]> =>
  inParts(places, textsOfToken, (some) =>
    database.rows<SaidUri>(
      `SELECT collection, id_key, uri, is_void, at
       FROM ${tables.of('token_uris')}
       WHERE ${keysIn} AND (collection, id_key, version) GLOBAL IN (
         SELECT u.collection AS collection, u.id_key AS id_key, max(u.version) AS version
         FROM ${tables.of('token_uris')} AS u
         WHERE ${keysIn} AND u.at <= {end:UInt64}
         GROUP BY u.collection, u.id_key
       )`,
      { keys: keysOf(some), end },
      { name: 'nft.uris', ...call },
    ),
  );

/** The tokens at places, by name; those that never were are missing. */
export async function readTokens(
  reading: Reading,
  places: readonly TokenPlace[],
): Promise<Map<string, TokenRow>> {
  const { database, tables, call } = reading;
  const [states, uris] = await Promise.all([
    inParts(places, textsOfToken, (some) =>
      database.rows<StateRow>(
        newestRowsSql(tables.of('token_states'), stateColumns, ['collection', 'id_key'], keysIn),
        { keys: keysOf(some) },
        { name: 'nft.tokens', ...call },
      ),
    ),
    readSaidUris(reading, places),
  ]);
  const tokens = new Map(states.map((state) => [tokenName(state.collection, state.id_key), state] as const));
  for (const { collection, id_key, uri, is_void, at } of uris) {
    const name = tokenName(collection, id_key);
    const state = tokens.get(name);
    // What the node said of an earlier token of this id is void.
    if (!is_void && state !== undefined && at >= state.minted_at) tokens.set(name, { ...state, uri });
  }
  return tokens;
}

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
  const rows = await inParts(places, textsOfToken, (some) =>
    database.rows<TokenPlace & { size: number }>(
      `SELECT collection, id_key, max(size) AS size
       FROM (
         SELECT collection, id_key, length(t.uri) + length(t.owner) AS size
         FROM ${tables.of('token_states')} AS t
         WHERE ${keysIn}
         UNION ALL
         SELECT collection, id_key, length(u.uri) AS size
         FROM ${tables.of('token_uris')} AS u
         WHERE ${keysIn}
       )
       GROUP BY collection, id_key`,
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
