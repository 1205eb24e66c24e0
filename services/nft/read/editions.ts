import { tuple } from '../../common/clickhouse/database.js';
import { type Editions, type Scope, scopeKey } from '../store/editions.js';
import type { Reading } from './reader.js';

/** The editions of lists at the end of a reading; those that are not there are the first. */
export async function readEditions(
  { database, tables, end, call }: Reading,
  scopes: readonly Scope[],
): Promise<Editions> {
  const rows = await database.rows<Scope & { edition: number }>(
    `SELECT list AS family, scope, max(edition) AS edition FROM ${tables.of('editions')} WHERE (list, scope) IN {scopes:Array(Tuple(String, String))} AND at <= {end:UInt64} GROUP BY list, scope`,
    { scopes: scopes.map(({ family, scope }) => tuple([family, scope])), end },
    { name: 'nft.editions', ...call },
  );
  return new Map(rows.map(({ edition, ...scope }) => [scopeKey(scope), edition]));
}
