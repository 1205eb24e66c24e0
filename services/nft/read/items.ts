import type { Params } from '../../common/clickhouse/database.js';
import type { ListName } from '../store/tables.js';
import type { Position, Range } from './moving-page.js';
import { present } from './present.js';
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
  /** As its edition has it, see `nameIn`. */
  readonly scope: string;
  /** Collections whose tokens are not shown. */
  readonly hidden: readonly string[];
  /** Whose list it is, as `ownerIn` gives it: with it tokens of any number of collections can be hidden. */
  readonly owner?: string;
  /** Only tokens of this id. */
  readonly id_key?: string;
}

/** How many rows are read to find one item, and how many more for a page, at first. */
const [rowsPerItem, rowsMore] = [1.25, 16];

/**
 * Rows that are looked over after a window without enough items, first and at most: a stretch
 * where much is gone is left behind in few statements, and what is sent is the items alone.
 */
const [rowsOver, mostRows, growth] = [2_000, 128_000, 8];

/**
 * Reads items in order. Rows that merges have not replaced yet are there as well, and some of
 * what is gone (see the schema's editions), so a part of the list somewhat longer than the page
 * is read, and settled: what costs is the page, not the length of the list.
 */
export async function readItems(reading: Reading, of: ItemList, range: Range): Promise<Item[]> {
  const isFar = range.offset > offsetByRows && of.id_key === undefined && range.anchor === undefined;
  const entry = isFar ? await reading.ranks.enter(reading, of, range.offset, range.descending) : range;
  const { descending, limit } = range;
  let from: Start = { anchor: entry.anchor, inclusive: entry.inclusive ?? false, descending };
  const wanted = limit + entry.offset;
  const rows = Math.min(mostRows, Math.ceil(wanted * rowsPerItem) + rowsMore);
  const window = await readWindow(reading, of, from, rows);
  const isWhole = window.reduce((sum, { n }) => sum + n, 0) < rows;
  // The last group may go on beyond the window.
  const settled = isWhole ? window : window.slice(0, -1);
  const found: Item[] = settled.flatMap(({ there, height, id_key, collection }) =>
    there ? [{ height, id_key, collection }] : [],
  );
  let last: Item | undefined = settled.at(-1);
  for (let over = rowsOver; !isWhole && found.length < wanted; over = Math.min(mostRows, over * growth)) {
    if (last !== undefined) from = { anchor: positionIn(last), inclusive: false, descending };
    last = await readPlaceAfter(reading, of, from, over);
    found.push(...(await readBetween(reading, of, from, last, wanted - found.length)));
    if (last === undefined) break;
  }
  return found.slice(entry.offset, wanted);
}

/** Where to read from. */
type Start = Pick<Range, 'anchor' | 'inclusive' | 'descending'>;

const positionIn = ({ height, id_key, collection }: Item): Position => [height, id_key, collection];

interface Settled extends Item {
  readonly there: boolean;
  /** Rows of the item in the window. */
  readonly n: number;
}

/** The condition of a part of a list, with its placeholders' values. */
function partOf(
  { tables, end }: Pick<Reading, 'tables' | 'end'>,
  of: ItemList,
  { anchor, inclusive, descending }: Start,
  to?: Item,
): { readonly where: string; readonly params: Params } {
  const { list, scope, id_key } = of;
  const isShown = shownIn(tables, end, of);
  // Spelt out, because the engine finds no range of the primary key in a comparison of tuples.
  const bound = (name: string, over: '<' | '>', orEqual: boolean): string =>
    `AND (height ${over} {${name}_height:UInt64} OR (height = {${name}_height:UInt64} AND (id_key ${over} {${name}_key:String} OR (id_key = {${name}_key:String} AND collection ${over}${orEqual ? '=' : ''} {${name}_collection:String}))))`;
  const valuesOf = (name: string, [height, key, collection]: Position): Params => ({
    ...{ [`${name}_height`]: height, [`${name}_key`]: key, [`${name}_collection`]: collection },
  });
  const [beyond, before] = descending ? (['<', '>'] as const) : (['>', '<'] as const);
  return {
    where: [
      'list = {list:String} AND scope = {scope:String}',
      id_key === undefined ? '' : 'AND height = 0 AND id_key = {only:String}',
      anchor === undefined ? '' : bound('from', beyond, inclusive === true),
      to === undefined ? '' : bound('to', before, true),
      isShown.where,
    ].join(' '),
    params: {
      ...{ list, scope },
      ...(id_key === undefined ? {} : { only: id_key }),
      ...(anchor === undefined ? {} : valuesOf('from', anchor)),
      ...(to === undefined ? {} : valuesOf('to', positionIn(to))),
      ...isShown.params,
    },
  };
}

/** The condition that an item of a list is not hidden, with its placeholders' values. */
export function shownIn(
  tables: Reading['tables'],
  end: number,
  { hidden, owner }: ItemList,
): { readonly where: string; readonly params: Params } {
  if (hidden.length === 0) return { where: '', params: {} };
  if (owner === undefined || !areMany(hidden))
    return { where: 'AND collection NOT IN {hidden:Array(String)}', params: { hidden } };
  return {
    where: `AND collection GLOBAL IN (SELECT collection FROM ${tables.of('collections')} AS shown WHERE born_at <= {shown_end:UInt64} AND collection GLOBAL IN (SELECT collection FROM ${tables.of('counts')} WHERE owner = {holder:String}) GROUP BY collection HAVING NOT argMax(shown.gone, shown.version))`,
    params: { holder: owner, shown_end: end },
  };
}

const columns = ['list', 'scope', 'height', 'id_key', 'collection'] as const;
const orderBy = (descending: boolean): string =>
  columns.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`).join(', ');

/** So many rows of a list, settled. */
function readWindow(
  { database, tables, end, call }: Reading,
  of: ItemList,
  from: Start,
  rows: number,
): Promise<Settled[]> {
  const { where, params } = partOf({ tables, end }, of, from);
  const order = orderBy(from.descending);
  return database.rows<Settled>(
    `SELECT height, id_key, collection, toBool(${present}) AS there, count() AS n FROM (SELECT list, scope, height, id_key, collection, gone, was, base, at FROM ${tables.of('items')} WHERE ${where} ORDER BY ${order} LIMIT {rows:UInt64}) AS i GROUP BY list, scope, height, id_key, collection ORDER BY ${order}`,
    { ...params, end, rows },
    { name: `nft.items_${of.list}`, ...call },
  );
}

/** The place that so many rows of a list end at; undefined when it has no more. */
async function readPlaceAfter(
  { database, tables, end, call }: Reading,
  of: ItemList,
  from: Start,
  rows: number,
): Promise<Item | undefined> {
  const { where, params } = partOf({ tables, end }, of, from);
  const [place] = await database.rows<Item>(
    `SELECT height, id_key, collection FROM ${tables.of('items')} WHERE ${where} ORDER BY ${orderBy(from.descending)} LIMIT 1 OFFSET {rows:UInt64}`,
    { ...params, rows },
    { name: `nft.items_after_${of.list}`, ...call },
  );
  return place;
}

/** What is there from one place of a list up to another, or to its end. */
function readBetween(
  { database, tables, end, call }: Reading,
  of: ItemList,
  from: Start,
  to: Item | undefined,
  limit: number,
): Promise<Item[]> {
  const { where, params } = partOf({ tables, end }, of, from, to);
  return database.rows<Item>(
    `SELECT height, id_key, collection FROM ${tables.of('items')} AS i WHERE ${where} GROUP BY list, scope, height, id_key, collection HAVING ${present} ORDER BY ${orderBy(from.descending)} LIMIT {limit:UInt64}`,
    { ...params, end, limit },
    { name: `nft.items_between_${of.list}`, ...call },
  );
}

/** Offsets up to here are read over, row by row; beyond, the list's ranks tell where to begin. */
const offsetByRows = 1_000;

/** The id of a hash in a list, whether its token is still there or not, in whatever edition it was. */
export async function findLongId(
  { database, tables, call }: Reading,
  { list, scope }: ItemList,
  height: number,
  hash: string,
): Promise<string | undefined> {
  const first = scope.replace(/#.*/, '');
  const [row] = await database.rows<{ id_key: string }>(
    `SELECT id_key FROM ${tables.of('items')} WHERE list = {list:String} AND scope >= {first:String} AND scope < {beyond:String} AND height = {height:UInt64} AND lower(hex(SHA256(id_key))) = {hash:String} LIMIT 1`,
    { list, first, beyond: `${first}$`, height, hash },
    { name: 'nft.long_id', ...call },
  );
  return row?.id_key;
}
