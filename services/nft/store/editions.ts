import { type Database, tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/keys.js';
import { holdingOf, type ListName, type Tables } from './tables.js';
import type { CountPlace } from './touched.js';

/*
 * Editions of lists: see schema/0002_editions.sql. Everything but the names of rows in tables
 * goes by the scope alone.
 */

/** Lists that have their editions together, by token id and by height. */
export type Family = 'collection' | 'owner' | 'holding';

/** A list of tokens, however it is sorted. */
export interface Scope {
  readonly family: Family;
  readonly scope: string;
}

/** Editions by scopeKey; those that are not there are the first, 0. */
export type Editions = ReadonlyMap<string, number>;

export const scopeKey = ({ family, scope }: Scope): string => `${family}/${scope}`;

/** The family of a list. */
export const familyOf = (list: ListName): Family => list.replace('_height', '') as Family;

/** What an edition of a list has as its scope in tables. */
export const editionName = (scope: string, edition: number): string =>
  edition === 0 ? scope : `${scope}#${edition}`;

/** The scope of a list in tables. */
export const nameIn = (editions: Editions, of: Scope): string =>
  editionName(of.scope, editions.get(scopeKey(of)) ?? 0);

/** The owner of counts in tables; '' stands for the lengths of collections. */
export const ownerIn = (editions: Editions, owner: string): string =>
  owner === '' ? '' : nameIn(editions, { family: 'owner', scope: owner });

/** The lists whose items go with a count. */
export function scopesOf({ owner, collection }: CountPlace): Scope[] {
  if (owner === '') return [{ family: 'collection', scope: collection }];
  return [
    { family: 'owner', scope: owner },
    { family: 'holding', scope: holdingOf(owner, collection) },
  ];
}

/** The texts of a scope in a parameter. */
export const textsOfScope = ({ family, scope }: Scope): string[] => [family, scope];

/** The editions of lists that have another than the first. */
export async function lookUpEditions(
  database: Database,
  tables: Tables,
  scopes: readonly Scope[],
): Promise<Map<string, number>> {
  const rows = await inParts(scopes, textsOfScope, (some) =>
    database.rows<Scope & { edition: number }>(
      `SELECT list AS family, scope, max(edition) AS edition FROM ${tables.of('editions')} WHERE (list, scope) IN {scopes:Array(Tuple(String, String))} GROUP BY list, scope`,
      { scopes: some.map(({ family, scope }) => tuple([family, scope])) },
      { name: 'nft.look_up_editions', priority: 'write' },
    ),
  );
  return new Map(rows.map(({ edition, ...scope }) => [scopeKey(scope), edition]));
}

/** Whether any list has another edition than the first. */
export async function hasEditions(database: Database, tables: Tables): Promise<boolean> {
  const rows = await database.rows(
    `SELECT 1 AS found FROM ${tables.of('editions')} LIMIT 1`,
    {},
    { name: 'nft.has_editions', priority: 'write' },
  );
  return rows.length > 0;
}
