import type { PageRequest, PageResponse } from '../gen/indexer/common/v1/common.js';
import { decodeKey, encodeKey, keyNumber } from './key.js';

/** A list whose items stand at consecutive positions, `first` to `last`; empty when last < first. */
export interface DenseList {
  /** The list with all its filters: what a key is tied to. */
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

/** Which positions a page shows. */
export interface DensePage {
  /** Lowest and highest position, inclusive; nothing is shown when from > to. */
  readonly from: number;
  readonly to: number;
  readonly pagination: PageResponse;
}

/**
 * Works out a page of a dense list: pure arithmetic, so that a deep offset and an exact
 * total cost nothing.
 *
 * @throws RpcError INVALID_ARGUMENT for a key that is not of this list.
 */
export function densePage(request: PageRequest, list: DenseList): DensePage {
  const { first, last, name } = list;
  const [from, to] = boundsOf(request, list);
  // Where the neighbours would begin: also right for an empty page past either end.
  const [low, high] = from <= to ? [from, to] : request.reverse ? [first, first - 1] : [last + 1, last];
  const hasLower = low > first && last >= first;
  const hasHigher = high < last;
  const after = request.reverse ? (hasLower ? low : undefined) : hasHigher ? high : undefined;
  const before = request.reverse ? (hasHigher ? high : undefined) : hasLower ? low : undefined;
  return {
    from,
    to,
    pagination: {
      next_key: after === undefined ? '' : encodeKey(name, 'after', [after]),
      previous_key: before === undefined ? '' : encodeKey(name, 'before', [before]),
      total: request.count_total ? String(Math.max(0, last - first + 1)) : '0',
    },
  };
}

function boundsOf(request: PageRequest, { name, first, last }: DenseList): [from: number, to: number] {
  const { limit, reverse } = request;
  if (request.key === '') {
    const offset = request.offset;
    return reverse
      ? [Math.max(first, last - offset - limit + 1), last - offset]
      : [first + offset, Math.min(last, first + offset + limit - 1)];
  }
  const { side, position } = decodeKey(name, request.key, 1);
  const anchor = keyNumber(position[0]);
  // Upwards from the anchor, or downwards.
  const upwards = (side === 'after') !== reverse;
  return upwards
    ? [Math.max(first, anchor + 1), Math.min(last, anchor + limit)]
    : [Math.max(first, anchor - limit), Math.min(last, anchor - 1)];
}
