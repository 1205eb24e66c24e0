import type { Params } from '../../common/clickhouse/database.js';
import { newestRowsSql, viewPageSql } from '../../common/page/view.js';
import type { ListName } from '../store/tables.js';
import type { Range } from './moving-page.js';
import type { Reading } from './reader.js';
import { areMany } from './shown.js';

/** An item of a list of tokens. */
export interface Item {
  readonly height: number;
  readonly id_key: string;
  readonly collection: string;
}

/** Which items of which list. */
export interface ItemList {
  readonly list: ListName;
  readonly scope: string;
  /** Collections whose tokens are not shown. */
  readonly hidden: readonly string[];
  /** Whose list it is: with it tokens of any number of collections can be hidden. */
  readonly owner?: string;
  /** Only tokens of this id. */
  readonly id_key?: string;
}

/** Reads items in order: the rows of a list, of each item the one that counts. */
export function readItems(
  { database, tables, call }: Reading,
  of: ItemList,
  { anchor, descending, offset, limit }: Range,
): Promise<Item[]> {
  const over = descending ? '<' : '>';
  // Not as a comparison of tuples: of that the primary key uses the first part only.
  const beyond =
    anchor === undefined
      ? ''
      : `AND (v.height ${over} {height:UInt64} OR (v.height = {height:UInt64} AND (
           v.id_key ${over} {id_key:String} OR (v.id_key = {id_key:String} AND v.collection ${over} {collection:String})
         )))`;
  const { where, params } = conditionOf(tables, of);
  const sql = viewPageSql({
    table: tables.of('token_lists'),
    columns: ['height', 'id_key', 'collection'],
    key: itemKey,
    where: `${where} ${beyond}`,
    ...{ descending, skip: offset },
  });
  return database.rows<Item>(
    sql,
    {
      ...{ ...params, limit, skip: offset },
      ...(anchor === undefined ? {} : { height: anchor[0], id_key: anchor[1], collection: anchor[2] }),
    },
    { name: `nft.items_${of.list}`, ...call },
  );
}

/** How many items a list has. */
export async function countItems({ database, tables, call }: Reading, of: ItemList): Promise<number> {
  const { where, params } = conditionOf(tables, of);
  const items = newestRowsSql(tables.of('token_lists'), ['v.collection AS collection'], itemKey, where);
  const [row] = await database.rows<{ n: number }>(`SELECT count() AS n FROM (${items})`, params, {
    name: 'nft.count_items',
    ...call,
  });
  return row?.n ?? 0;
}

/** The columns that the table of lists is ordered by. */
const itemKey = ['list', 'scope', 'height', 'id_key', 'collection'];

/** The condition that rows are of a list, with its placeholders' values. */
function conditionOf(
  tables: Reading['tables'],
  of: ItemList,
): { readonly where: string; readonly params: Params } {
  const shown = shownIn(tables, of);
  const only = of.id_key === undefined ? '' : 'AND v.id_key = {only_key:String}';
  return {
    where: `v.list = {list:String} AND v.scope = {scope:String} ${only} ${shown.where}`,
    params: {
      ...{ list: of.list, scope: of.scope },
      ...(of.id_key === undefined ? {} : { only_key: of.id_key }),
      ...shown.params,
    },
  };
}

/** The condition that an item of a list is not hidden, with its placeholders' values. */
function shownIn(
  tables: Reading['tables'],
  { hidden, owner }: ItemList,
): { readonly where: string; readonly params: Params } {
  if (hidden.length === 0) return { where: '', params: {} };
  if (owner === undefined || !areMany(hidden))
    return { where: 'AND v.collection NOT IN {hidden:Array(String)}', params: { hidden } };
  return {
    where: `AND v.collection GLOBAL IN (
      SELECT collection
      FROM ${tables.of('shown_collections')} AS s
      WHERE collection GLOBAL IN (
        SELECT collection FROM ${tables.of('token_counts')} WHERE account = {holder:String}
      )
      GROUP BY collection
      HAVING argMax(s.is_deleted, s.version) = 0
    )`,
    params: { holder: owner },
  };
}

/** The id of a hash in a list, whether its token is still there or not. */
export async function findLongId(
  { database, tables, call }: Reading,
  { list, scope }: ItemList,
  height: number,
  hash: string,
): Promise<string | undefined> {
  const [row] = await database.rows<{ id_key: string }>(
    `SELECT id_key
     FROM ${tables.of('token_lists')}
     WHERE list = {list:String} AND scope = {scope:String} AND height = {height:UInt64}
       AND lower(hex(SHA256(id_key))) = {hash:String}
     LIMIT 1`,
    { list, scope, height, hash },
    { name: 'nft.long_id', ...call },
  );
  return row?.id_key;
}
