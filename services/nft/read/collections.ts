import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { readFitting } from '../../common/page/fit.js';
import { keyNumber } from '../../common/page/key.js';
import { type MovingPage, movingPage, type Position, type Range } from '../../common/page/moving.js';
import { beyondSql, viewPageSql } from '../../common/page/view.js';
import { invalidArgument } from '../../common/runtime/errors.js';
import type { ShownCollection } from '../store/types.js';
import { fold } from '../token-key.js';
import { countRows, readCounts } from './counts.js';
import type { Reading } from './reader.js';
import { readShown, readShownSizes, shownOfOwnerSql } from './shown.js';

/** A collection's place in the list by creation. */
export interface CollectionPlace {
  readonly born_at: number;
  readonly collection: string;
}

/** A collection with its length, as it is shown. */
export interface SizedCollection extends ShownCollection {
  readonly length: number;
}

/** Positions before and after every collection: addresses are hex. */
const byCreation = {
  ends: [
    [0, ''],
    [Number.MAX_SAFE_INTEGER, 'g'],
  ],
  positionOf: ({ born_at, collection }: CollectionPlace): Position => [born_at, collection],
  parse([born_at = '', collection = '']: readonly string[]): Position {
    return [keyNumber(born_at), collection];
  },
} as const;

/** All collections that are shown. */
export function listCollections(
  reading: Reading,
  request: PageRequest,
): Promise<MovingPage<CollectionPlace>> {
  return movingPage(request, {
    name: 'collections',
    ...byCreation,
    read: (range) => readPlaces(reading, range),
    count: () =>
      countRows(reading, `${reading.tables.of('shown_collections')} FINAL`, {}, 'nft.count_collections'),
  });
}

/** Collections of which an account holds a token now. */
export function listCollectionsOf(
  reading: Reading,
  owner: string,
  request: PageRequest,
): Promise<MovingPage<CollectionPlace>> {
  return movingPage(request, {
    name: `collections/by_account/${owner}`,
    ...byCreation,
    read: (range) => readPlacesOf(reading, owner, range),
    count: () =>
      countRows(reading, `(${shownOfOwnerSql(reading.tables)})`, { owner }, 'nft.count_collections_of'),
  });
}

/** A page of collections, of which so many are there as fit. */
export async function fittingCollections(
  reading: Reading,
  request: PageRequest,
  list: (request: PageRequest) => Promise<MovingPage<{ readonly collection: string }>>,
): Promise<MovingPage<SizedCollection>> {
  const { items, pagination } = await readFitting(request, reading.page, list, async (page) => {
    const names = page.items.map(({ collection }) => collection);
    // One is shown however large it is.
    const sizes = names.length < 2 ? undefined : await readShownSizes(reading, names);
    return names.map((name) => sizes?.get(name)?.size ?? 0);
  });
  return { items: await describeCollections(reading, items), pagination };
}

/** What is shown of collections, in the order of their places. */
export async function describeCollections(
  reading: Reading,
  places: readonly { readonly collection: string }[],
): Promise<SizedCollection[]> {
  const names = places.map(({ collection }) => collection);
  const [shown, lengths] = await Promise.all([readShown(reading, names), readCounts(reading, '', names)]);
  return names.flatMap((name) => {
    const collection = shown.get(name);
    return collection === undefined ? [] : [{ ...collection, length: lengths.get(name) ?? 0 }];
  });
}

/** Columns of a place, with the parameters of a position. */
const place = [
  ['v.born_at', '{born_at:UInt64}'],
  ['v.collection', '{collection:String}'],
] as const;

/** The condition that a place lies beyond the position of a range. */
const beyondPlace = ({ beyond }: Range): string => (beyond === undefined ? '1' : beyondSql(place, beyond));

/** Reads places of the collections of an account, in order. */
function readPlacesOf(
  { database, tables, call }: Reading,
  owner: string,
  range: Range,
): Promise<CollectionPlace[]> {
  const [born_at, collection] = range.beyond?.position ?? [];
  const order = range.descending === true ? 'DESC' : 'ASC';
  return database.rows<CollectionPlace>(
    `SELECT v.born_at AS born_at, v.collection AS collection
     FROM (${shownOfOwnerSql(tables)}) AS v
     WHERE ${beyondPlace(range)}
     ORDER BY v.born_at ${order}, v.collection ${order}
     LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    { owner, born_at, collection, limit: range.limit, offset: range.offset },
    { name: 'nft.collection_places_of', ...call },
  );
}

/** Reads places in order: the rows of the list, of each place the one that counts. */
function readPlaces({ database, tables, call }: Reading, range: Range): Promise<CollectionPlace[]> {
  const { beyond, descending = false, offset, limit } = range;
  const where = beyondPlace(range);
  const [born_at, collection] = beyond?.position ?? [];
  const key = ['born_at', 'collection'];
  const columns = { born_at: 'v.born_at', collection: 'v.collection' };
  const table = tables.of('collection_list');
  return database.rows<CollectionPlace>(
    viewPageSql({ table, columns, key, where, descending, skip: offset }),
    { limit, skip: offset, born_at, collection },
    { name: 'nft.collection_places', ...call },
  );
}

/** A collection that was found by name. */
interface Named extends CollectionPlace {
  /** 0 where the name is the one asked for, 1 where it only contains it. */
  readonly inexact: number;
}

/**
 * Collections by name, in either of their names, whatever the case: those that are called so
 * first, in both directions, then those whose name contains it, each by creation.
 */
export function listCollectionsNamed(
  reading: Reading,
  name: string,
  request: PageRequest,
): Promise<MovingPage<CollectionPlace>> {
  const wanted = fold(name.toWellFormed());
  // Positions rise in the order of the request, whichever that is, but for the creation.
  const sign = request.reverse ? 1 : -1;
  return movingPage<Named>(request, {
    name: `collections/by_name/${wanted}`,
    ends: [
      [-2, 0, ''],
      [2, Number.MAX_SAFE_INTEGER, 'g'],
    ],
    positionOf: ({ inexact, born_at, collection }) => [-sign * inexact, born_at, collection],
    parse: ([rank = '', born_at = '', collection = '']) => {
      if (!/^-?[012]$/.test(rank)) throw invalidArgument('pagination.key is not a key of this list');
      return [Number(rank), keyNumber(born_at), collection];
    },
    read: (range) => readNamed(reading, wanted, sign, range),
    count: () =>
      countRows(
        reading,
        `(${matching(reading.tables.of('collection_list'))})`,
        { wanted },
        'nft.count_named',
      ),
  });
}

const contains =
  '(position(folded_name, {wanted:String}) > 0 OR position(folded_origin, {wanted:String}) > 0)';

/**
 * Collections whose newest row has the name: an older one that merges have not dropped yet may
 * have had it. Only the names are read of the whole table, and what is kept of each is whether it fits: names may be long.
 */
const matching = (table: string): string =>
  `SELECT
     born_at,
     collection,
     argMax(c.folded_name = {wanted:String} OR c.folded_origin = {wanted:String}, c.version) AS is_exact
   FROM ${table} AS c
   WHERE (born_at, collection) GLOBAL IN (
     SELECT born_at, collection FROM ${table} WHERE ${contains}
   )
   GROUP BY born_at, collection
   HAVING argMax(c.is_deleted, c.version) = 0 AND argMax(
     position(c.folded_name, {wanted:String}) > 0 OR position(c.folded_origin, {wanted:String}) > 0, c.version
   )`;

function readNamed(
  { database, tables, call }: Reading,
  wanted: string,
  sign: number,
  { beyond, descending, offset, limit }: Range,
): Promise<Named[]> {
  const order = descending === true ? 'DESC' : 'ASC';
  const place = [
    ['rank', '{rank:Int8}'],
    ['born_at', '{born_at:UInt64}'],
    ['collection', '{collection:String}'],
  ] as const;
  const part = beyond === undefined ? '' : `WHERE ${beyondSql(place, beyond)}`;
  const [rank, born_at, collection] = beyond?.position ?? [];
  return database.rows<Named>(
    `SELECT inexact, born_at, collection
     FROM (
       SELECT toInt8(NOT is_exact) AS inexact, toInt8(-{sign:Int8} * inexact) AS rank, born_at, collection
       FROM (${matching(tables.of('collection_list'))})
     )
     ${part}
     ORDER BY rank ${order}, born_at ${order}, collection ${order}
     LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
    {
      ...{ wanted, sign, limit, offset, rank, born_at, collection },
    },
    { name: 'nft.collections_named', ...call },
  );
}
