import type { PageRequest, PageResponse } from '../gen/indexer/common/v1/common.js';
import { decodeKey, encodeKey } from './key.js';
import type { Side } from './view.js';

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
  /** Items of a part of the list, at most `limit`. */
  readonly read: (range: Range) => Promise<T[]>;
  /** How many items there are. */
  readonly count: () => Promise<number>;
}

/** A part of a list. */
export interface Range {
  /** Only items on a side of this position. */
  readonly beyond: (Side & { readonly position: Position }) | undefined;
  /** Undefined: in whichever order is the cheaper one. */
  readonly descending: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** A page of a moving list. */
export interface MovingPage<T> {
  readonly items: T[];
  readonly pagination: PageResponse;
}

/**
 * Reads a page. Unlike in lists that only grow, the neighbour that a key was given for may be gone by now. So a page by key
 * is read from that neighbour on; where it is gone, somebody looks whether another one is there.
 *
 * @throws RpcError INVALID_ARGUMENT for a key that is not of this list.
 */
export async function movingPage<T>(request: PageRequest, list: MovingList<T>): Promise<MovingPage<T>> {
  const { limit, reverse, key } = request;
  const decoded = key === '' ? undefined : decodeKey(list.name, key, list.ends[0].length);
  const anchor = decoded === undefined ? undefined : await list.parse(decoded.position);
  const isBack = decoded?.side === 'before';
  const descending = reverse !== isBack;
  const offset = decoded === undefined ? request.offset : 0;
  const side = descending ? 'before' : 'after';
  const beyond = anchor === undefined ? undefined : ({ position: anchor, side, isIncluded: true } as const);
  const read = await list.read({ beyond, descending, offset, limit: limit + (anchor === undefined ? 1 : 2) });
  const [nearest] = read;
  const hasAnchor =
    anchor !== undefined && nearest !== undefined && comparePositions(list.positionOf(nearest), anchor) === 0;
  const found = hasAnchor ? read.slice(1) : read;
  const items = found.slice(0, limit);
  if (isBack) items.reverse();
  const hasMore = found.length > limit;
  const [first, last] = [items[0], items.at(-1)];

  /** Whether an item lies beyond the page on the side where it was entered. */
  const hasBehind = async (): Promise<boolean> => {
    if (anchor === undefined && offset === 0) return false;
    // What the offset passes over was there when the page was read.
    if (hasAnchor || (anchor === undefined && items.length > 0)) return true;
    const edge = isBack ? last : first;
    const behind =
      edge === undefined
        ? undefined
        : { position: list.positionOf(edge), side: descending ? ('after' as const) : ('before' as const) };
    return (await list.read({ beyond: behind, descending: undefined, offset: 0, limit: 1 })).length > 0;
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

/** Compares positions part by part: numbers by value, texts as the engine does, by their bytes. */
function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] as string | number;
    const order =
      typeof part === 'number'
        ? part - (other as number)
        : Buffer.compare(Buffer.from(part), Buffer.from(other as string));
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
    read: async ({ beyond, descending, offset, limit }) => {
      const isBeyond = (item: T): boolean => {
        if (beyond === undefined) return true;
        const order = comparePositions(list.positionOf(item), beyond.position);
        if (order === 0) return beyond.isIncluded === true;
        return beyond.side === 'before' ? order < 0 : order > 0;
      };
      const items = await sorted();
      const ordered = descending === true ? items.toReversed() : items;
      return ordered.filter(isBeyond).slice(offset, offset + limit);
    },
    count: async () => (await sorted()).length,
  };
}
