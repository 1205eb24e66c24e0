import type { Database } from '../../common/clickhouse/database.js';
import { removeFromAll } from '../../common/clickhouse/remove.js';
import type { FaultPoint } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { partsOf } from '../../common/writer/views.js';
import { nameRow } from './rows.js';
import type { FactName, Tables } from './tables.js';
import { withBirth } from './token.js';
import type { Birth, CollectionName, Origin } from './types.js';

/*
 * Facts that tables of an earlier version do not have are made of what those have: what accounts got and gave follows from
 * the history of tokens, and what the node said stands in tables that kept the last of it. All of it may be done again: it
 * begins by removing what was made before.
 */

export interface EarlierFactsOptions {
  readonly database: FencedDatabase;
  readonly tables: Tables;
  readonly fault: FaultPoint;
  readonly log: Log;
  readonly insert: (table: FactName, lines: readonly string[]) => Promise<void>;
}

/** The facts that are made here. */
const made = ['account_history', 'token_uris', 'collection_names'] as const;

/** Makes the facts that an earlier version did not keep. To be done before views are made of them. */
export async function takeOverEarlierFacts(options: EarlierFactsOptions): Promise<void> {
  const { database, tables, fault, log } = options;
  log.info('the tables of an earlier version are taken over: this may take minutes, and is done once');
  const remove = { database, tables, fault, name: 'nft.take_over_again' };
  await removeFromAll(
    remove,
    made.map((table) => [table, '1'] as const),
    {},
  );
  await fillByToken(options, 'account_history', accountHistoryColumns, 'history', accountHistorySelect);
  await fillByToken(options, 'token_uris', uriColumns, 'uris', uriSelect);
  await fillNames(options);
  log.info('the facts of the earlier version are taken over: views are made of them now');
}

const accountHistoryColumns = ['account', 'collection', 'id_key', 'at', 'change'];

/** What a change of a token changes for accounts, as `moveHoldings` in batch.ts has it. */
const accountHistorySelect = `SELECT tupleElement(entry, 1) AS account, collection, id_key, at, tupleElement(entry, 2) AS change
  FROM (
    SELECT
      f.collection AS collection,
      f.id_key AS id_key,
      f.at AS at,
      f.previous_owner AS giver,
      f.owner AS taker,
      arrayJoin(arrayFilter(e -> tupleElement(e, 3), [
        ('', toInt8(1), giver = '' AND f.kind != 'burn'),
        ('', toInt8(-1), f.kind = 'burn'),
        (giver, toInt8(-1), giver != taker AND giver != '' AND NOT startsWith(giver, '?')),
        (taker, toInt8(1), giver != taker AND taker != '' AND NOT startsWith(taker, '?')),
        (taker, toInt8(0), giver = taker AND taker != '' AND NOT startsWith(taker, '?'))
      ])) AS entry
    FROM {{from}} AS f
    WHERE f.kind != 'named' AND {{where}}
  )`;

const uriColumns = ['collection', 'id_key', 'uri', 'is_void', 'at', 'version'];

const uriSelect = `SELECT
    f.collection AS collection,
    f.id_key AS id_key,
    f.uri AS uri,
    f.at = 0 AS is_void,
    f.at AS at,
    f.version AS version
  FROM {{from}} AS f
  WHERE {{where}}`;

/** Fills a table from another one whose order begins with the collection and the token. */
async function fillByToken(
  { database, tables, fault, log }: EarlierFactsOptions,
  table: FactName,
  columns: readonly string[],
  from: 'history' | 'uris',
  select: string,
): Promise<void> {
  const environment = { of: tables.of, position: {}, name: 'nft' };
  let part = 0;
  const parts = partsOf(database, environment, from, ['collection', 'id_key'], '1');
  for await (const { where, params } of parts) {
    await fault(`fill ${table}`);
    await database.insertSelect(
      tables.of(table),
      columns,
      select.replace('{{from}}', tables.of(from)).replace('{{where}}', where),
      params,
      { name: `nft.fill_${table}`, priority: 'write' },
    );
    part += 1;
    log.info({ table, part }, 'a part of the facts is taken over');
  }
}

/**
 * Names: an earlier version kept the last one of each collection. It is taken for one that was there from the beginning, so
 * that a rollback leaves it; where blocks said several names, those are known with their positions.
 */
async function fillNames({ database, tables, fault, insert }: EarlierFactsOptions): Promise<void> {
  const options = { name: 'nft.fill_collection_names', priority: 'write' as const };
  await fault('fill collection_names');
  const renamed = `SELECT b.collection AS collection FROM ${tables.of('births')} AS b WHERE b.kind = 'renamed'`;
  await database.insertSelect(
    tables.of('collection_names'),
    [
      ...['collection', 'name', 'origin_name', 'folded_name', 'folded_origin', 'creator', 'source', 'at'],
      'version',
    ],
    `SELECT
       c.collection AS collection,
       argMax(c.name, c.version) AS name,
       argMax(c.origin_name, c.version) AS origin_name,
       argMax(c.folded_name, c.version) AS folded_name,
       argMax(c.folded_origin, c.version) AS folded_origin,
       argMax(c.creator, c.version) AS creator,
       'node' AS source,
       if(any(r.renamed) = 1, argMax(c.at, c.version), any(r.first_at)) AS at,
       max(c.version) AS version
     FROM ${tables.of('collections')} AS c
     INNER JOIN (
       SELECT
         b.collection AS collection,
         min(b.at) AS first_at,
         max(b.kind = 'renamed') AS renamed
       FROM ${tables.of('births')} AS b
       GROUP BY b.collection
     ) AS r ON r.collection = c.collection
     GROUP BY c.collection`,
    {},
    options,
  );
  await fault('fill collection_names again');
  const births = await database.rows<Birth>(
    `SELECT b.collection AS collection, b.kind AS kind, b.born_at AS born_at, b.creator AS creator, b.name AS name,
       b.timestamp AS timestamp, b.at AS at
     FROM ${tables.of('births')} AS b
     WHERE b.collection GLOBAL IN (${renamed})
     ORDER BY b.at`,
    {},
    options,
  );
  const classes = await database.rows<{ class_name: string; origin_name: string; at: number }>(
    `SELECT c.class_name AS class_name, c.origin_name AS origin_name, c.at AS at
     FROM ${tables.of('classes')} AS c
     WHERE c.class_name GLOBAL IN (SELECT b.name AS name FROM ${tables.of('births')} AS b)
     ORDER BY c.at`,
    {},
    options,
  );
  // Whatever was learnt counts before them.
  const lines = namesOfBirths(births, classes).map((name) => JSON.stringify(nameRow(name, 'chain', 0)));
  await insert('collection_names', lines);
}

/** The names that blocks said, in their order. */
function namesOfBirths(
  births: readonly Birth[],
  classes: readonly { class_name: string; origin_name: string; at: number }[],
): CollectionName[] {
  const origins = new Map<string, Origin>();
  const names: CollectionName[] = [];
  for (const birth of births) {
    const { collection, at } = birth;
    const origin = withBirth(origins.get(collection), birth);
    if (origin === undefined) continue;
    origins.set(collection, origin);
    if (origin.creator === '') continue;
    const known = classes.filter((each) => each.class_name === origin.name && each.at <= at).at(-1);
    names.push({
      ...{ collection, at, name: origin.name, creator: origin.creator },
      origin_name: known?.origin_name ?? '',
    });
  }
  return names;
}

/** The highest version of the names and uris that an earlier version has learnt. */
export async function earlierDetails(database: Database, tables: Tables): Promise<number> {
  const [row] = await database.rows<{ version: number }>(
    `SELECT max(version) AS version
     FROM (
       SELECT max(c.version) AS version FROM ${tables.of('collections')} AS c
       UNION ALL
       SELECT max(u.version) AS version FROM ${tables.of('uris')} AS u
     )`,
    {},
    { name: 'nft.earlier_details', priority: 'write' },
  );
  return row?.version ?? 0;
}
