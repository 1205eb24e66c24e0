import type { Call } from '../../common/clickhouse/database.js';
import { invalidArgument } from '../../common/errors.js';
import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../common/gen/indexer/richlist/v1/richlist.js';
import { decodeKey, encodeKey } from '../../common/page/key.js';
import { beyondSql, viewPageSql } from '../../common/page/view.js';
import { largestAmount, placeOf } from '../amount.js';
import { servedHeight } from '../store/cursor.js';
import type { Reader } from './reader.js';

/** A page of holders. */
export interface HolderPage {
  readonly holders: Holder[];
  readonly pagination: PageResponse;
}

/** Where a holder stands in a list. */
interface Place {
  readonly place: bigint;
  readonly account: string;
}

/** A part of a list, in the direction in which it is read. */
interface Part {
  readonly token: string;
  /** Right after this place; undefined: from the end of the list that the order begins with. */
  readonly from: Place | undefined;
  /** From the smallest amount on. */
  readonly descending: boolean;
  readonly skip: number;
  readonly limit: number;
}

/** A holder of a place. */
const holderOf = ({ place, account }: Place): Holder => ({
  account: `0x${account}`,
  amount: String(placeOf(place)),
});

/** Lists the holders of a token. @throws RpcError INVALID_ARGUMENT for a key of another list. */
export async function listHolders(
  reader: Reader,
  token: string,
  page: PageRequest,
  call: Call,
): Promise<HolderPage> {
  if (servedHeight(reader.head.position) === 0) return emptyPage;
  const list = `holders/${token}`;
  const key = page.key === '' ? undefined : decodePlace(list, page.key);
  // A page before a key is read from the key on, and turned round.
  const isFlipped = key?.side === 'before';
  const descending = page.reverse === isFlipped; // the list's own order is the largest first
  const [total, places] = await Promise.all([
    page.count_total ? countHolders(reader, token, call) : 0,
    readPlaces(
      reader,
      { token, from: key?.place, descending, skip: page.offset, limit: page.limit + 1 },
      call,
    ),
  ]);
  const hasMore = places.length > page.limit;
  places.length = Math.min(places.length, page.limit);
  if (isFlipped) places.reverse();
  const [first, last] = [places[0], places.at(-1)];
  // What a key was given beside may have moved away: whether anything is there has to be looked at.
  const otherEnd = isFlipped ? last : first;
  const hasOther =
    otherEnd !== undefined &&
    (key === undefined
      ? page.offset > 0
      : (
          await readPlaces(
            reader,
            { token, from: otherEnd, descending: !descending, skip: 0, limit: 1 },
            call,
          )
        ).length > 0);
  const [hasNext, hasPrevious] = isFlipped ? [hasOther, hasMore] : [hasMore, hasOther];
  const isPastEnd =
    key === undefined &&
    page.offset > 0 &&
    places.length === 0 &&
    (page.count_total ? total : await countHolders(reader, token, call)) > 0;
  const before = hasPrevious ? first : isPastEnd ? sentinel(page.reverse) : undefined;
  return {
    holders: places.map(holderOf),
    pagination: {
      next_key: hasNext && last !== undefined ? encodePlace(list, 'after', last) : '',
      previous_key: before === undefined ? '' : encodePlace(list, 'before', before),
      total: page.count_total ? String(total) : '0',
    },
  };
}

const emptyPage: HolderPage = {
  holders: [],
  pagination: { next_key: '', previous_key: '', total: '0' },
};

/** The place that lies after every holder, in the order that was asked for. */
const sentinel = (reverse: boolean): Place => ({ place: reverse ? largestAmount : 0n, account: '' });

/** How many holders a token has: one row. */
async function countHolders({ database, tables }: Reader, token: string, call: Call): Promise<number> {
  const [row] = await database.rows<{ n: number }>(
    `SELECT c.holder_count AS n
     FROM ${tables.of('holder_counts')} AS c
     WHERE token = {token:String}
     ORDER BY c.version DESC
     LIMIT 1`,
    { token },
    { name: 'richlist.holder_count', ...call },
  );
  return row?.n ?? 0;
}

/** Reads a part of a list: the rows in their order, of each place the one that counts. */
async function readPlaces(
  { database, tables }: Reader,
  { token, from, descending, skip, limit }: Part,
  call: Call,
): Promise<Place[]> {
  const place = [
    ['v.place', '{place:UInt256}'],
    ['v.account', '{account:String}'],
  ] as const;
  const after = from === undefined ? '' : `AND ${beyondSql(place, descending ? '<' : '>')}`;
  const part = viewPageSql({
    table: tables.of('holder_list'),
    columns: ['place', 'account'],
    key: ['token', 'place', 'account'],
    where: `v.token = {token:String} ${after}`,
    ...{ descending, skip },
  });
  const rows = await database.rows<{ at: string; account: string }>(
    `SELECT toString(place) AS at, account FROM (${part})`,
    {
      ...(from === undefined ? {} : { place: String(from.place), account: from.account }),
      ...{ token, limit, skip },
    },
    { name: 'richlist.places', ...call },
  );
  return rows.map(({ at, account }) => ({ place: BigInt(at), account }));
}

const encodePlace = (list: string, side: 'after' | 'before', { place, account }: Place): string =>
  encodeKey(list, side, [String(placeOf(place)), account]);

function decodePlace(list: string, key: string) {
  const { side, position } = decodeKey(list, key, 2);
  const [amount = '', account = ''] = position;
  if (!/^\d{1,78}$/.test(amount) || BigInt(amount) > largestAmount || !/^([0-9a-f]{40})?$/.test(account))
    throw invalidArgument(`pagination.key ${JSON.stringify(key.slice(0, 200))} is not a key of this list`);
  return { side, place: { place: placeOf(BigInt(amount)), account } };
}
