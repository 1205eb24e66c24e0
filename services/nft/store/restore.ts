import { type Database, tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/keys.js';
import type { FaultPoint } from '../../common/fault.js';
import { familyOf, lookUpEditions, nameIn, ownerIn, type Scope, scopeKey, scopesOf } from './editions.js';
import { insertAll, insertInto } from './insert.js';
import { type ItemChanges, moveItems } from './items.js';
import { type TokenPlace, textsOfToken } from './lookups.js';
import { endOf } from './place.js';
import { itemLines } from './rows.js';
import { isAccount, type Tables } from './tables.js';
import { replay } from './token.js';
import type { CountPlace } from './touched.js';
import { type Change, type TokenState, tokenName } from './types.js';

/*
 * Tokens that changed above a height had other rows before, and merges may have dropped
 * those for the newer ones. They are made again from the tokens' histories. This may be cut
 * short anywhere and done again: the changes that it goes by are removed after it.
 */

/** Tokens that are restored together. */
const tokensAtOnce = 1_000;

const changeColumns =
  'at, collection, id_key, kind, previous_owner, owner, uri, object, ord, listed, tx_hash, timestamp';
const statement = { name: 'nft.restore', priority: 'write' as const };

export interface RestoreOptions {
  readonly database: Database;
  readonly tables: Tables;
  /** Whether the node is asked about tokens: those that are there again may never have been asked about. */
  readonly asks: boolean;
  readonly nextVersion: () => number;
  readonly fault: FaultPoint;
  /** Told before rows are made again, unless there are none. */
  readonly onRestore: () => Promise<void>;
}

/** Makes the rows again that changes above a height may have replaced. Their own rows are removed already. */
export async function restoreUpTo(options: RestoreOptions, height: number): Promise<void> {
  const { database, tables, fault } = options;
  const end = endOf(height);
  let after: TokenPlace = { collection: '', id_key: '' };
  for (;;) {
    const places = await database.rows<TokenPlace>(
      `SELECT collection, id_key FROM ${tables.of('changes')} WHERE at > {end:UInt64} AND (collection, id_key) > ({collection:String}, {id_key:String}) GROUP BY collection, id_key ORDER BY collection, id_key LIMIT {limit:UInt64}`,
      { end, ...after, limit: tokensAtOnce },
      statement,
    );
    const last = places.at(-1);
    if (last === undefined) break;
    await options.onRestore();
    await restoreTokens(options, places, end);
    after = last;
  }
  await restoreCounts(database, tables, end, fault);
}

async function restoreTokens(
  { database, tables, asks, nextVersion, fault }: RestoreOptions,
  places: readonly TokenPlace[],
  end: number,
): Promise<void> {
  // The changes of one token come from one statement: that is all that their order is for.
  const changes = await inParts(places, textsOfToken, (some) =>
    database.rows<Change>(
      `SELECT ${changeColumns} FROM ${tables.of('history')} WHERE (collection, id_key) IN {places:Array(Tuple(String, String))} AND at <= {end:UInt64} ORDER BY at`,
      { places: some.map(({ collection, id_key }) => tuple([collection, id_key])), end },
      statement,
    ),
  );
  const states = new Map<string, TokenPlace & TokenState>();
  const items: ItemChanges = new Map();
  for (const change of changes) {
    const { collection, id_key } = change;
    const name = tokenName(collection, id_key);
    const before = states.get(name);
    const state = replay(before, change);
    moveItems(items, collection, id_key, before, state);
    states.set(name, { collection, id_key, ...state });
  }
  const rows = [...items.values()].map((row) => ({ ...row, was: !row.gone }));
  const touched = rows.map(({ list, scope }) => ({ family: familyOf(list), scope }));
  const scopes = [...new Map(touched.map((of) => [scopeKey(of), of])).values()];
  const version = nextVersion();
  const jobs = [...states.values()]
    .filter(({ burnt }) => asks && !burnt)
    .map(({ collection, id_key }) => ({
      ...{ subject: 'tokens', collection, first_key: id_key, last_key: id_key, at: end },
      ...{ state: 'pending', attempts: 0, next_ms: 0, error: '', version },
    }));
  await insertAll(
    database,
    tables,
    [
      ['jobs', jobs.map((job) => JSON.stringify(job))],
      ['tokens', [...states.values()].map((row) => JSON.stringify(row))],
      // Nothing of them is above the cursor.
      ['items', itemLines(rows, await lookUpEditions(database, tables, scopes), end)],
    ],
    fault,
  );
}

/** Counts whose tokens changed, from the lists as they are now. */
async function restoreCounts(
  database: Database,
  tables: Tables,
  end: number,
  fault: FaultPoint,
): Promise<void> {
  const moved = await database.rows<{ collection: string; who: string }>(
    `SELECT DISTINCT collection, arrayJoin([previous_owner, owner]) AS who FROM ${tables.of('changes')} AS c WHERE at > {end:UInt64}`,
    { end },
    statement,
  );
  const places = new Map<string, CountPlace>();
  for (const { collection, who } of moved) {
    places.set(`/${collection}`, { owner: '', collection });
    if (isAccount(who)) places.set(`${who}/${collection}`, { owner: who, collection });
  }
  const keys = [...places];
  for (let start = 0; start < keys.length; start += tokensAtOnce) {
    const some = [...new Map(keys.slice(start, start + tokensAtOnce)).values()];
    const editions = await lookUpEditions(database, tables, some.flatMap(scopesOf));
    /** Of the list that has just the tokens that are counted. */
    const nameOf = (place: CountPlace): string => nameIn(editions, scopesOf(place).at(-1) as Scope);
    const counted = await inParts(
      some.map(nameOf),
      (scope) => [scope],
      (scopes) =>
        database.rows<{ scope: string; n: number }>(
          `SELECT scope, countIf(NOT gone) AS n FROM (SELECT scope, argMax(i.gone, i.at) AS gone FROM ${tables.of('items')} AS i WHERE list IN ('collection', 'holding') AND scope IN {scopes:Array(String)} GROUP BY scope, id_key) GROUP BY scope`,
          { scopes },
          statement,
        ),
    );
    const found = new Map(counted.map(({ scope, n }) => [scope, n]));
    const rows = some.map((place) => {
      const n = found.get(nameOf(place)) ?? 0;
      const owner = ownerIn(editions, place.owner);
      return JSON.stringify({ owner, collection: place.collection, n, before: n, at: end, base: end });
    });
    await insertInto(database, tables, 'counts', rows, fault);
  }
}
