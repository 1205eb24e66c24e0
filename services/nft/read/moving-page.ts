import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { decodeKey, encodeKey } from '../../common/page/key.js';
import { compareBytes } from '../token-key.js';

/** Where an item stands in its list, as a key carries it. */
export type Position = readonly (string | number)[];

/** A list whose items come and go. */
export interface MovingList<T> {
  /** The list with all its filters: what a key is tied to. */
  readonly name: string;
  /** A position before all items, and one after all. */
  readonly ends: readonly [before: Position, after: Position];
  /** The position of a key's parts. @throws RpcError INVALID_ARGUMENT when it cannot be one. */
  readonly parse: (parts: readonly string[]) => Position | Promise<Position>;
  readonly positionOf: (item: T) => Position;
  /** A position as a key carries it, where that is another one. */
  readonly shorten?: (position: Position) => Position;
  /** Items strictly beyond a position, or from the list's end, in an order; at most `limit`. */
  readonly read: (range: Range) => Promise<T[]>;
  /** How many items there are. */
  readonly count: () => Promise<number>;
}

/** A part of a list. */
export interface Range {
  readonly anchor: Position | undefined;
  /** Whether the item at the anchor belongs to the part. */
  readonly inclusive?: boolean;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** A page of a moving list. */
export interface MovingPage<T> {
  readonly items: T[];
  readonly pagination: PageResponse;
}

/**
 * Reads a page. Unlike in lists that only grow, the neighbour that a key was given for may be
 * gone by now: whether there is one on either side is looked up, never assumed.
 *
 * @throws RpcError INVALID_ARGUMENT for a key that is not of this list.
 */
export async function movingPage<T>(request: PageRequest, list: MovingList<T>): Promise<MovingPage<T>> {
  const { limit, reverse, key } = request;
  const decoded = key === '' ? undefined : decodeKey(list.name, key, list.ends[0].length);
  const anchor = decoded === undefined ? undefined : await list.parse(decoded.position);
  const isBack = decoded?.side === 'before';
  const offset = decoded === undefined ? request.offset : 0;
  const read = await list.read({ anchor, descending: reverse !== isBack, offset, limit: limit + 1 });
  const items = read.slice(0, limit);
  if (isBack) items.reverse();
  const hasMore = read.length > limit;
  const [first, last] = [items[0], items.at(-1)];

  /** Whether an item lies beyond the page on the side where it was entered. */
  const hasBehind = async (): Promise<boolean> => {
    if (anchor === undefined && offset === 0) return false;
    const edge = isBack ? last : first;
    const from = edge === undefined ? undefined : list.positionOf(edge);
    const found = await list.read({ anchor: from, descending: reverse === isBack, offset: 0, limit: 1 });
    return found.length > 0;
  };
  const shorten = list.shorten ?? ((position: Position) => position);
  const isEntered = await hasBehind();
  const [hasNext, hasPrevious] = isBack ? [isEntered, hasMore] : [hasMore, isEntered];
  const [beforeAll, afterAll] = list.ends;
  const after = last === undefined ? (reverse ? afterAll : beforeAll) : list.positionOf(last);
  const before = first === undefined ? (reverse ? beforeAll : afterAll) : list.positionOf(first);
  return {
    items,
    pagination: {
      next_key: hasNext ? encodeKey(list.name, 'after', shorten(after)) : '',
      previous_key: hasPrevious ? encodeKey(list.name, 'before', shorten(before)) : '',
      total: request.count_total ? String(await list.count()) : '0',
    },
  };
}

/** Compares positions part by part: numbers by value, texts by code point. */
function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] as string | number;
    const order = typeof part === 'number' ? part - (other as number) : compareBytes(part, other as string);
    if (order !== 0) return order;
  }
  return 0;
}

/** A list that is read whole, since it is short or must be sorted anew anyway. */
export function memoryList<T>(
  list: Omit<MovingList<T>, 'read' | 'count'>,
  load: () => Promise<readonly T[]>,
): MovingList<T> {
  let loading: Promise<readonly T[]> | undefined;
  const sorted = (): Promise<readonly T[]> => {
    loading ??= load().then((items) =>
      [...items].sort((a, b) => comparePositions(list.positionOf(a), list.positionOf(b))),
    );
    return loading;
  };
  return {
    ...list,
    read: async (range) => partOf(await sorted(), list.positionOf, range),
    count: async () => (await sorted()).length,
  };
}

function partOf<T>(
  sorted: readonly T[],
  positionOf: (item: T) => Position,
  { anchor, descending, offset, limit }: Range,
): T[] {
  const ordered = descending ? sorted.toReversed() : sorted;
  const isBeyond = (item: T): boolean => {
    if (anchor === undefined) return true;
    const order = comparePositions(positionOf(item), anchor);
    return descending ? order < 0 : order > 0;
  };
  return ordered.filter(isBeyond).slice(offset, offset + limit);
}
