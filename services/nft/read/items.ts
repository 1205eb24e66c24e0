import type { ListName } from '../store/tables.js';
import type { Range } from './moving-page.js';
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

/** Whether an item is there at the end of the chain that is read; see the schema on `was`. */
const isThere = `if(countIf(i.at <= {end:UInt64}) > 0, NOT argMaxIf(i.gone, i.at, i.at <= {end:UInt64}), argMin(i.was, i.at))`;

/**
 * Reads items in order. Rows that merges have not replaced yet are there as well, so a part
 * of the list somewhat longer than the page is read, and settled: what costs is the page, not
 * the length of the list.
 */
export async function readItems(reading: Reading, of: ItemList, range: Range): Promise<Item[]> {
  const items: Item[] = [];
  let { anchor, offset } = range;
  const wanted = range.limit;
  if (offset > offsetByRows) return readFar(reading, of, range);
  let rows = Math.min(mostRows, Math.ceil((wanted + offset) * rowsPerItem) + rowsMore);
  for (;;) {
    const some = await readWindow(reading, of, { anchor, descending: range.descending }, rows);
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
    if (last !== undefined) anchor = [last.height, last.id_key, last.collection];
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
  { anchor, descending }: Pick<Range, 'anchor' | 'descending'>,
  rows: number,
): Promise<Settled[]> {
  const order = descending ? 'DESC' : 'ASC';
  const over = descending ? '<' : '>';
  // Spelt out, because the engine finds no range of the primary key in a comparison of tuples.
  const beyond =
    anchor === undefined
      ? ''
      : `AND (height ${over} {height:UInt64} OR (height = {height:UInt64} AND (id_key ${over} {id_key:String} OR (id_key = {id_key:String} AND collection ${over} {collection:String}))))`;
  const shown = hidden.length === 0 ? '' : 'AND collection NOT IN {hidden:Array(String)}';
  const only = id_key === undefined ? '' : 'AND height = 0 AND id_key = {only:String}';
  return database.rows<Settled>(
    `SELECT height, id_key, collection, toBool(${isThere}) AS there, count() AS n FROM (SELECT height, id_key, collection, gone, was, at FROM ${tables.of('items')} WHERE list = {list:String} AND scope = {scope:String} ${only} ${beyond} ${shown} ORDER BY list ${order}, scope ${order}, height ${order}, id_key ${order}, collection ${order} LIMIT {rows:UInt64}) AS i GROUP BY height, id_key, collection ORDER BY height ${order}, id_key ${order}, collection ${order}`,
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

/** Offsets up to here are read over, row by row; those beyond are counted by the engine. */
const offsetByRows = 2_000;

/** Reads items after a large offset: the engine settles the whole list. */
async function readFar(reading: Reading, { list, scope, hidden }: ItemList, range: Range): Promise<Item[]> {
  const { database, tables, end, call } = reading;
  const order = range.descending ? 'DESC' : 'ASC';
  const shown = hidden.length === 0 ? '' : 'AND collection NOT IN {hidden:Array(String)}';
  return database.rows<Item>(
    `SELECT height, id_key, collection FROM ${tables.of('items')} AS i WHERE list = {list:String} AND scope = {scope:String} ${shown} GROUP BY height, id_key, collection HAVING ${isThere} ORDER BY height ${order}, id_key ${order}, collection ${order} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    {
      ...{ list, scope, end, limit: range.limit, offset: range.offset },
      ...(hidden.length === 0 ? {} : { hidden }),
    },
    { name: `nft.items_far_${list}`, ...call },
  );
}
