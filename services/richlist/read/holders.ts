import type { Call } from '../../common/clickhouse/database.js';
import { invalidArgument } from '../../common/errors.js';
import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../common/gen/indexer/richlist/v1/richlist.js';
import { decodeKey, encodeKey } from '../../common/page/key.js';
import { largestAmount, shortfallOf } from '../amount.js';
import { servedHeight } from '../store/cursor.js';
import type { Place } from '../store/stretches.js';
import { readPlaces } from './places.js';
import { findOffset, readStretches } from './ranks.js';
import type { Reader } from './reader.js';

/** A page of holders. */
export interface HolderPage {
  readonly holders: Holder[];
  readonly pagination: PageResponse;
}

/** Where a page begins, in the direction in which it is read. */
interface Window {
  readonly from: (Place & { readonly inclusive: boolean }) | undefined;
  readonly descending: boolean;
  readonly skip: number;
  /** Read towards the page before: to be turned round. */
  readonly flipped: boolean;
  /** Whether something may stand before the page. */
  readonly isFirst: boolean;
}

/** A holder of a place. */
const holderOf = ({ shortfall, account }: Place): Holder => ({
  account: `0x${account}`,
  amount: String(shortfallOf(shortfall)),
});

/** Lists the holders of a token. @throws RpcError INVALID_ARGUMENT for a key of another list. */
export async function listHolders(
  reader: Reader,
  token: string,
  page: PageRequest,
  call: Call,
): Promise<HolderPage> {
  const { position } = reader.head;
  if (servedHeight(position) === 0) return emptyPage;
  const list = `holders/${token}`;
  const upTo = position.last_ord;
  const isCounted = page.count_total || (page.key === '' && page.offset > 0);
  const stretches = isCounted ? await readStretches(reader, token, upTo, call) : [];
  const total = stretches.reduce((sum, { count }) => sum + count, 0);
  const key = page.key === '' ? undefined : decodePlace(list, page.key);
  const window = key === undefined ? windowAtOffset(page, stretches) : windowAtKey(page, key);
  const shown = async (place: Window['from'], descending: boolean, skip: number, limit: number) =>
    readPlaces(reader, { token, from: place, descending, skip, limit, upTo }, call);

  const places =
    window === undefined ? [] : await shown(window.from, window.descending, window.skip, page.limit + 1);
  const more = places.length > page.limit;
  places.length = Math.min(places.length, page.limit);
  if (window?.flipped) places.reverse();
  // What lies on the other side has to be looked at: the list moves, and may have moved away.
  const [first, last] = [places[0], places.at(-1)];
  const otherEnd = window?.flipped ? last : first;
  const looksBack = otherEnd !== undefined && window !== undefined && !window.isFirst;
  const hasOther =
    looksBack && (await shown({ ...otherEnd, inclusive: false }, !window.descending, 0, 1)).length > 0;
  const [hasNext, hasPrevious] = window?.flipped ? [hasOther, more] : [more, hasOther];
  const pastEnd = window === undefined && total > 0 ? sentinel(page.reverse) : undefined;
  const before = hasPrevious ? first : pastEnd;
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
const sentinel = (reverse: boolean): Place => ({ shortfall: reverse ? largestAmount : 0n, account: '' });

function windowAtOffset(page: PageRequest, stretches: Parameters<typeof findOffset>[0]): Window | undefined {
  const descending = !page.reverse; // the list's own order is the largest first
  const plain = { descending, flipped: false, isFirst: page.offset === 0 };
  if (page.offset === 0) return { ...plain, from: undefined, skip: 0 };
  const start = findOffset(stretches, page.offset, descending);
  if (start === undefined) return undefined;
  const from = start.stretch === undefined ? undefined : { ...start.stretch, inclusive: !descending };
  return { ...plain, from, skip: start.skip };
}

function windowAtKey(page: PageRequest, { side, place }: ReturnType<typeof decodePlace>): Window {
  const flipped = side === 'before';
  return {
    from: { ...place, inclusive: false },
    descending: page.reverse === flipped,
    skip: 0,
    flipped,
    isFirst: false,
  };
}

const encodePlace = (list: string, side: 'after' | 'before', { shortfall, account }: Place): string =>
  encodeKey(list, side, [String(shortfallOf(shortfall)), account]);

function decodePlace(list: string, key: string) {
  const { side, position } = decodeKey(list, key, 2);
  const [amount = '', account = ''] = position;
  if (!/^\d{1,78}$/.test(amount) || BigInt(amount) > largestAmount || !/^([0-9a-f]{40})?$/.test(account))
    throw invalidArgument(`pagination.key ${JSON.stringify(key.slice(0, 200))} is not a key of this list`);
  return { side, place: { shortfall: shortfallOf(BigInt(amount)), account } };
}
