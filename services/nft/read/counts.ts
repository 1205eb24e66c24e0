import type { Params } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/literals.js';
import { newestRowsSql } from '../../common/page/view.js';
import type { Reading } from './reader.js';
import { shownOfOwnerSql } from './shown.js';

/** How many rows a table or a query in parentheses has. */
export async function countRows(
  { database, call }: Reading,
  rows: string,
  params: Params,
  name: string,
): Promise<number> {
  const [row] = await database.rows<{ n: number }>(`SELECT count() AS n FROM ${rows}`, params, {
    name,
    ...call,
  });
  return row?.n ?? 0;
}

/** What an account holds now. */
export interface Held {
  /** Tokens in collections that are shown. */
  readonly shown: number;
  /** Collections that are not. */
  readonly hidden: number;
}

/**
 * What an account holds in all collections. Anybody can send anybody tokens of any number of collections, so the engine
 * looks them up and adds them: none of them comes here.
 */
export async function readHeld({ database, tables, call }: Reading, owner: string): Promise<Held> {
  const [row] = await database.rows<Held>(
    `SELECT sumIf(token_count, is_shown) AS shown, countIf(NOT is_shown) AS hidden
     FROM (
       SELECT token_count, collection GLOBAL IN (SELECT collection FROM (${shownOfOwnerSql(tables)})) AS is_shown
       FROM ${tables.of('token_counts')} FINAL
       WHERE account = {owner:String}
     )`,
    { owner },
    { name: 'nft.held', ...call },
  );
  return row ?? { shown: 0, hidden: 0 };
}

/** How many tokens an account has in collections, of those where it has any; with the account '' their lengths. */
export async function readCounts(
  reading: Reading,
  account: string,
  collections: readonly string[],
): Promise<Map<string, number>> {
  const rows = await inParts(
    collections,
    (collection) => [collection],
    (some) =>
      reading.database.rows<{ collection: string; token_count: number }>(
        newestRowsSql(
          reading.tables.of('token_counts'),
          ['collection', 'token_count'],
          ['collection'],
          'account = {account:String} AND collection IN {collections:Array(String)}',
        ),
        { account, collections: some },
        { name: 'nft.counts', ...reading.call },
      ),
  );
  return new Map(rows.map(({ collection, token_count }) => [collection, token_count]));
}
