import type { AccountKey } from '../../common/chain/address.js';
import { type Database, tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/literals.js';
import { newestRowsSql } from '../../common/page/view.js';
import { type Creation, countKey, type ObjectToken } from './known.js';
import type { Tables } from './tables.js';
import { withBirth } from './token.js';
import type { CountPlace } from './touched.js';
import { type Birth, type CollectionName, type Origin, type TokenState, tokenName } from './types.js';

/*
 * Look-ups of the one writer. They see every row there is: nothing lies above the cursor
 * when it looks.
 */

/** A token's place. */
export interface TokenPlace {
  readonly collection: AccountKey;
  readonly id_key: string;
}

/** The texts of keys in parameters. */
export const textsOfToken = ({ collection, id_key }: TokenPlace): string[] => [collection, id_key];
const itself = (key: string): string[] => [key];

/** That a token is one of the parameter `keys`. */
export const keysIn = '(collection, id_key) IN {keys:Array(Tuple(String, String))}';

const write = (name: string) => ({ name: `nft.${name}`, priority: 'write' as const });

/** Columns of a token's state. */
const tokenColumns = [
  ...[
    'collection',
    'id_key',
    'object',
    'owner',
    'uri',
    'burnt',
    'minted_at',
    'height',
    'timestamp',
    'tx_count',
  ],
  ...['last_tx', 'at'],
];

/** The states of tokens that ever were, by name. */
export async function lookUpTokens(
  database: Database,
  tables: Tables,
  places: readonly TokenPlace[],
): Promise<Map<string, TokenState>> {
  const rows = await inParts(places, textsOfToken, (some) =>
    database.rows<TokenState & TokenPlace>(
      newestRowsSql(tables.of('token_states'), tokenColumns, ['collection', 'id_key'], keysIn),
      { keys: some.map(({ collection, id_key }) => tuple([collection, id_key])) },
      write('look_up_tokens'),
    ),
  );
  return new Map(
    rows.map(({ collection, id_key, ...state }) => [tokenName(collection, id_key), state] as const),
  );
}

/** Which tokens objects are; those that are none are missing. */
export async function lookUpObjects(
  database: Database,
  tables: Tables,
  objects: readonly AccountKey[],
): Promise<Map<AccountKey, ObjectToken>> {
  const rows = await inParts(objects, itself, (some) =>
    database.rows<ObjectToken & { object: AccountKey }>(
      `SELECT object, collection, id_key FROM ${tables.of('objects')} WHERE object IN {objects:Array(String)}`,
      { objects: some },
      write('look_up_objects'),
    ),
  );
  return new Map(rows.map(({ object, ...token }) => [object, token]));
}

/** What the chain says of collections. */
export async function lookUpOrigins(
  database: Database,
  tables: Tables,
  collections: readonly AccountKey[],
): Promise<Map<AccountKey, Origin>> {
  // Of each kind the row that counts: a collection can have any number of names.
  const births = await inParts(collections, itself, (some) =>
    database.rows<Birth>(
      `SELECT collection, kind, born_at, creator, name, timestamp, at
       FROM ${tables.of('births')}
       WHERE collection IN {collections:Array(String)} AND (collection, kind, at) GLOBAL IN (
         SELECT b.collection AS collection, b.kind AS kind, if(b.kind = 'renamed', max(b.at), min(b.at)) AS at
         FROM ${tables.of('births')} AS b
         WHERE b.collection IN {collections:Array(String)}
         GROUP BY b.collection, b.kind
       )
       ORDER BY at`,
      { collections: some },
      write('look_up_births'),
    ),
  );
  const origins = new Map<AccountKey, Origin>();
  for (const birth of births) {
    const origin = withBirth(origins.get(birth.collection), birth);
    if (origin !== undefined) origins.set(birth.collection, origin);
  }
  return origins;
}

/** Who created contracts. */
export async function lookUpContracts(
  database: Database,
  tables: Tables,
  contracts: readonly AccountKey[],
): Promise<Map<AccountKey, Creation>> {
  const rows = await inParts(contracts, itself, (some) =>
    database.rows<Creation & { contract: AccountKey }>(
      `SELECT contract, creator, timestamp, at
       FROM ${tables.of('contracts')}
       WHERE contract IN {contracts:Array(String)}
       ORDER BY at
       LIMIT 1 BY contract`,
      { contracts: some },
      write('look_up_contracts'),
    ),
  );
  return new Map(rows.map(({ contract, ...creation }) => [contract, creation]));
}

/** Names at home of classes that came over IBC; the newest counts. */
export async function lookUpClasses(
  database: Database,
  tables: Tables,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await inParts(names, itself, (some) =>
    database.rows<{ class_name: string; origin_name: string }>(
      `SELECT class_name, origin_name
       FROM ${tables.of('classes')}
       WHERE class_name IN {names:Array(String)}
       ORDER BY at DESC
       LIMIT 1 BY class_name`,
      { names: some },
      write('look_up_classes'),
    ),
  );
  return new Map(rows.map(({ class_name, origin_name }) => [class_name, origin_name]));
}

/** How many tokens owners have in collections, by countKey; those that have none are missing. */
export async function lookUpCounts(
  database: Database,
  tables: Tables,
  places: readonly CountPlace[],
): Promise<Map<string, number>> {
  const textsOf = ({ owner, collection }: CountPlace): string[] => [owner, collection];
  const rows = await inParts(places, textsOf, (some) =>
    database.rows<{ account: string; collection: string; token_count: number }>(
      newestRowsSql(
        tables.of('token_counts'),
        ['account', 'collection', 'token_count'],
        ['account', 'collection'],
        '(account, collection) IN {keys:Array(Tuple(String, String))}',
      ),
      { keys: some.map(({ owner, collection }) => tuple([owner, collection])) },
      write('look_up_counts'),
    ),
  );
  return new Map(
    rows.map(({ account, collection, token_count }) => [countKey(account, collection), token_count]),
  );
}

/** The names of collections; those that have none are missing. */
export async function lookUpNames(
  database: Database,
  tables: Tables,
  collections: readonly AccountKey[],
): Promise<Map<AccountKey, CollectionName>> {
  const rows = await inParts(collections, itself, (some) =>
    database.rows<CollectionName>(
      `SELECT collection, name, origin_name, creator, at
       FROM ${tables.of('collection_names')} AS n
       WHERE collection IN {collections:Array(String)}
       ORDER BY n.version DESC, n.at DESC
       LIMIT 1 BY collection`,
      { collections: some },
      write('look_up_names'),
    ),
  );
  return new Map(rows.map((row) => [row.collection, row]));
}
