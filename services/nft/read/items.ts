import { createHash } from 'node:crypto';
import type { Params } from '../../common/clickhouse/database.js';
import { keyNumber } from '../../common/page/key.js';
import type { Position, Range } from '../../common/page/moving.js';
import { beyondSql, viewPageSql } from '../../common/page/view.js';
import { invalidArgument } from '../../common/runtime/errors.js';
import type { ListName } from '../store/tables.js';
import { afterAllKeys, beforeAllKeys } from '../token-key.js';
import { countRows } from './counts.js';
import type { Reading } from './reader.js';
import { shownOfOwnerSql } from './shown.js';

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
  /** Whose list it is, where tokens of collections that are not shown have to be left out. */
  readonly shown_of?: string;
  /** Only tokens of this id. */
  readonly id_key?: string;
}

/** Reads items in order: the rows of a list, of each item the one that counts. */
export function readItems(
  { database, tables, call }: Reading,
  of: ItemList,
  { beyond, descending, offset, limit }: Range,
): Promise<Item[]> {
  const place = [
    ['v.height', '{height:UInt64}'],
    ['v.id_key', '{id_key:String}'],
    ['v.collection', '{collection:String}'],
  ] as const;
  const part = beyond === undefined ? '' : `AND ${beyondSql(place, beyond)}`;
  const [height, id_key, collection] = beyond?.position ?? [];
  // In the table's order where any will do, but towards the position where items in between may be left out.
  const isSparse = of.shown_of !== undefined || of.id_key !== undefined;
  const backwards = descending ?? (isSparse && beyond?.side === 'before');
  const { where, params } = conditionOf(tables, of);
  const sql = viewPageSql({
    table: tables.of('token_lists'),
    columns: { height: 'v.height', id_key: 'v.id_key', collection: 'v.collection' },
    key: itemKey,
    where: `${where} ${part}`,
    ...{ descending: backwards, skip: offset },
  });
  return database.rows<Item>(
    sql,
    { ...params, limit, skip: offset, height, id_key, collection },
    { name: `nft.items_${of.list}`, ...call },
  );
}

/** How many items a list has. */
export function countItems(reading: Reading, of: ItemList): Promise<number> {
  const { where, params } = conditionOf(reading.tables, of);
  return countRows(
    reading,
    `(SELECT 1 FROM ${reading.tables.of('token_lists')} AS v FINAL WHERE ${where})`,
    params,
    'nft.count_items',
  );
}

/** The columns that the table of lists is ordered by. */
const itemKey = ['list', 'scope', 'height', 'id_key', 'collection'];

/** The condition that rows are of a list, with its placeholders' values. */
function conditionOf(
  tables: Reading['tables'],
  of: ItemList,
): { readonly where: string; readonly params: Params } {
  const only = of.id_key === undefined ? '' : 'AND v.id_key = {only_key:String}';
  const shown =
    of.shown_of === undefined
      ? ''
      : `AND v.collection GLOBAL IN (SELECT collection FROM (${shownOfOwnerSql(tables)}))`;
  return {
    where: `v.list = {list:String} AND v.scope = {scope:String} ${only} ${shown}`,
    params: { list: of.list, scope: of.scope, only_key: of.id_key, owner: of.shown_of },
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

/** Positions before and after every token. */
export const ends = [
  [0, beforeAllKeys, ''],
  [Number.MAX_SAFE_INTEGER, afterAllKeys, 'g'],
] as const;

export const positionOf = ({ height, id_key, collection }: Item): Position => [height, id_key, collection];

/** Longer ids stand in page keys by their hash, which begins as no id does: keys have to fit into URLs. */
const [longest, mark] = [64, '#'];

const hashOf = (id_key: string): string => createHash('sha256').update(id_key).digest('hex');

/** A position as a page key carries it. */
export function shorten([height, id_key, collection]: Position): Position {
  const text = String(id_key);
  return [height as number, text.length <= longest ? text : mark + hashOf(text), collection as string];
}

/** Finds the id of a hash among the tokens of a list; undefined when there is none. */
type FindLongId = (height: number, hash: string) => Promise<string | undefined>;

/** The position that a page key carries. @throws RpcError INVALID_ARGUMENT when it can be none. */
export async function parsePosition(parts: readonly string[], find: FindLongId): Promise<Position> {
  const [height = '', id = '', collection = ''] = parts;
  const at = keyNumber(height);
  if (!id.startsWith(mark)) return [at, id, collection];
  const id_key = await find(at, id.slice(mark.length));
  if (id_key === undefined) throw invalidArgument('pagination.key is not a key of this list');
  return [at, id_key, collection];
}

/** Finds an id among items that are in memory. */
export const findAmong =
  (load: () => Promise<readonly Item[]>): FindLongId =>
  async (height, hash) =>
    (await load()).find((item) => item.height === height && hashOf(item.id_key) === hash)?.id_key;
