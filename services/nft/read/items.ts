import type { ListName } from '../store/tables.js';
import type { Range } from './moving-page.js';
import { present } from './present.js';
import type { Reading } from './reader.js';

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
  /** Only tokens of this id. */
  readonly id_key?: string;
}

/** How many rows are read to find one item, and how many more for a page, at first. */
const [rowsPerItem, rowsMore] = [1.25, 16];

/** Most rows that one statement reads: lists with many that are gone are read in parts. */
const mostRows = 20_000;

/**
 * Reads items in order. Rows that merges have not replaced yet are there as well, so a part
 * of the list somewhat longer than the page is read, and settled: what costs is the page, not
 * the length of the list.
 */
export async function readItems(reading: Reading, of: ItemList, range: Range): Promise<Item[]> {
  const items: Item[] = [];
  const wanted = range.limit;
  const isFar = range.offset > offsetByRows && of.id_key === undefined && range.anchor === undefined;
  const entry = isFar ? await reading.ranks.enter(reading, of, range.offset, range.descending) : range;
  let { anchor, offset } = entry;
  let inclusive = entry.inclusive ?? false;
  let rows = Math.min(mostRows, Math.ceil((wanted + offset) * rowsPerItem) + rowsMore);
  for (;;) {
    const some = await readWindow(reading, of, { anchor, inclusive, descending: range.descending }, rows);
    const read = some.reduce((sum, { n }) => sum + n, 0);
    const isLast = read < rows;
    // The last group may go on beyond the window.
    const settled = isLast ? some : some.slice(0, -1);
    for (const { there, height, id_key, collection } of settled) {
      if (!there) continue;
      if (offset > 0) offset -= 1;
      else items.push({ height, id_key, collection });
      if (items.length === wanted) return items;
    }
    if (isLast) return items;
    const last = settled.at(-1);
    if (last !== undefined) [anchor, inclusive] = [[last.height, last.id_key, last.collection], false];
    rows = Math.min(mostRows, rows * 2);
  }
}

interface Settled extends Item {
  readonly there: boolean;
  /** Rows of the item in the window. */
  readonly n: number;
}

function readWindow(
  { database, tables, end, call }: Reading,
  { list, scope, hidden, id_key }: ItemList,
  { anchor, inclusive, descending }: Pick<Range, 'anchor' | 'inclusive' | 'descending'>,
  rows: number,
): Promise<Settled[]> {
  const order = descending ? 'DESC' : 'ASC';
  const over = descending ? '<' : '>';
  // Spelt out, because the engine finds no range of the primary key in a comparison of tuples.
  const beyond =
    anchor === undefined
      ? ''
      : `AND (height ${over} {height:UInt64} OR (height = {height:UInt64} AND (id_key ${over} {id_key:String} OR (id_key = {id_key:String} AND collection ${over}${inclusive ? '=' : ''} {collection:String}))))`;
  const shown = hidden.length === 0 ? '' : 'AND collection NOT IN {hidden:Array(String)}';
  const only = id_key === undefined ? '' : 'AND height = 0 AND id_key = {only:String}';
  return database.rows<Settled>(
    `SELECT height, id_key, collection, toBool(${present}) AS there, count() AS n FROM (SELECT height, id_key, collection, gone, was, at FROM ${tables.of('items')} WHERE list = {list:String} AND scope = {scope:String} ${only} ${beyond} ${shown} ORDER BY list ${order}, scope ${order}, height ${order}, id_key ${order}, collection ${order} LIMIT {rows:UInt64}) AS i GROUP BY height, id_key, collection ORDER BY height ${order}, id_key ${order}, collection ${order}`,
    {
      list,
      scope,
      end,
      rows,
      ...(id_key === undefined ? {} : { only: id_key }),
      ...(anchor === undefined ? {} : { height: anchor[0], id_key: anchor[1], collection: anchor[2] }),
      ...(hidden.length === 0 ? {} : { hidden }),
    },
    { name: `nft.items_${list}`, ...call },
  );
}

/** Offsets up to here are read over, row by row; beyond, the list's ranks tell where to begin. */
const offsetByRows = 1_000;

/** The id of a hash in a list, whether its token is still there or not. */
export async function findLongId(
  { database, tables, call }: Reading,
  { list, scope }: ItemList,
  height: number,
  hash: string,
): Promise<string | undefined> {
  const [row] = await database.rows<{ id_key: string }>(
    `SELECT id_key FROM ${tables.of('items')} WHERE list = {list:String} AND scope = {scope:String} AND height = {height:UInt64} AND lower(hex(SHA256(id_key))) = {hash:String} LIMIT 1`,
    { list, scope, height, hash },
    { name: 'nft.long_id', ...call },
  );
  return row?.id_key;
}
