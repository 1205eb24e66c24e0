import type { PageRequest, PageResponse } from '../gen/indexer/common/v1/common.js';
import { decodeKey, encodeKey } from './key.js';

/** What to read for a page of a list whose positions have gaps (a filtered list). */
export interface Window {
  /** Read only items strictly beyond this position; undefined from the end of the list. */
  readonly anchor: readonly string[] | undefined;
  /** Read in descending order of position. */
  readonly descending: boolean;
  /** Items to skip. */
  readonly offset: number;
  /** Items to read: one more than the page shows, to see whether more follow. */
  readonly limit: number;
  /** The page lies before its anchor: what was read must be turned round to be shown. */
  readonly flipped: boolean;
}

/**
 * What to read for a page.
 *
 * @param list the list with all its filters: what a key is tied to.
 * @param parts how many parts a position has.
 * @throws RpcError INVALID_ARGUMENT for a key that is not of this list.
 */
export function windowOf(request: PageRequest, list: string, parts: number): Window {
  const { reverse, limit } = request;
  if (request.key === '') {
    return {
      anchor: undefined,
      descending: reverse,
      offset: request.offset,
      limit: limit + 1,
      flipped: false,
    };
  }
  const { side, position } = decodeKey(list, request.key, parts);
  const flipped = side === 'before';
  return { anchor: position, descending: reverse !== flipped, offset: 0, limit: limit + 1, flipped };
}

/**
 * The page and its keys from what was read.
 *
 * The neighbour on the anchor's side is known to exist without a look: the anchor was an
 * item of the list when its key was given out.
 *
 * @param rows what the window asked for, in the order it asked for.
 * @param total exact number of items, as text; `"0"` when not counted.
 */
export function windowPage<T>(
  request: PageRequest,
  list: string,
  window: Window,
  rows: readonly T[],
  positionOf: (row: T) => readonly (string | number | bigint)[],
  total: string,
): { readonly rows: T[]; readonly pagination: PageResponse } {
  const more = rows.length > request.limit;
  const shown = rows.slice(0, request.limit);
  if (window.flipped) shown.reverse();
  const [first, last] = [shown[0], shown.at(-1)];
  const hasNext = window.flipped ? true : more;
  const hasPrevious = window.flipped ? more : window.anchor !== undefined || window.offset > 0;
  return {
    rows: shown,
    pagination: {
      next_key: hasNext && last !== undefined ? encodeKey(list, 'after', positionOf(last)) : '',
      previous_key: hasPrevious && first !== undefined ? encodeKey(list, 'before', positionOf(first)) : '',
      total,
    },
  };
}
