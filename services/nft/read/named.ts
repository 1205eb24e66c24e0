import { invalidArgument } from '../../common/errors.js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { keyNumber } from '../../common/page/key.js';
import { type MovingPage, movingPage, type Range } from '../../common/page/moving.js';
import { beyondSql } from '../../common/page/view.js';
import { fold } from '../names.js';
import type { CollectionPlace } from './collections.js';
import { countRows } from './counts.js';
import type { Reading } from './reader.js';

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
