import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { readFitting } from '../../common/page/fit.js';
import { keyNumber } from '../../common/page/key.js';
import {
  type MovingPage,
  memoryList,
  movingPage,
  type Position,
  type Range,
} from '../../common/page/moving.js';
import { beyondSql, viewPageSql } from '../../common/page/view.js';
import type { ShownCollection } from '../store/types.js';
import { readCounts, readHoldings } from './counts.js';
import type { Reading } from './reader.js';
import { readPlacesOf, readShown, readShownPlaces } from './shown.js';

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
    count: () => countPlaces(reading),
  });
}

/** Collections of which an account holds a token now. */
export function listCollectionsOf(
  reading: Reading,
  owner: string,
  request: PageRequest,
): Promise<MovingPage<CollectionPlace>> {
  const list = memoryList<CollectionPlace>(
    { name: `collections/by_account/${owner}`, ...byCreation },
    async () => {
      const held = (await readHoldings(reading, owner)).map(({ collection }) => collection);
      return [...(await readPlacesOf(reading, held, owner)).values()];
    },
  );
  return movingPage(request, list);
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
    const places = names.length < 2 ? undefined : await readShownPlaces(reading, names);
    return names.map((name) => places?.get(name)?.size ?? 0);
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

/** Reads places in order: the rows of the list, of each place the one that counts. */
function readPlaces(
  { database, tables, call }: Reading,
  { beyond, descending = false, offset, limit }: Range,
): Promise<CollectionPlace[]> {
  const place = [
    ['v.born_at', '{born_at:UInt64}'],
    ['v.collection', '{collection:String}'],
  ] as const;
  const where = beyond === undefined ? '1' : beyondSql(place, beyond.side);
  const [born_at, collection] = beyond?.position ?? [];
  const columns = ['born_at', 'collection'];
  const table = tables.of('collection_list');
  return database.rows<CollectionPlace>(
    viewPageSql({ table, columns, key: columns, where, descending, skip: offset }),
    { limit, skip: offset, born_at, collection },
    { name: 'nft.collection_places', ...call },
  );
}

/** A collection that is shown somewhere is shown once. */
async function countPlaces({ database, tables, call }: Reading): Promise<number> {
  const [row] = await database.rows<{ n: number }>(
    `SELECT count() AS n
     FROM (
       SELECT 1
       FROM ${tables.of('shown_collections')} AS c
       GROUP BY c.collection
       HAVING argMax(c.is_deleted, c.version) = 0
     )`,
    {},
    { name: 'nft.count_collections', ...call },
  );
  return row?.n ?? 0;
}
