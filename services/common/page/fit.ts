import { type AccountKey, parseAccount } from '../chain/address.js';
import type { PageRequest } from '../gen/indexer/common/v1/common.js';
import { invalidArgument } from '../runtime/errors.js';
import type { Metrics } from '../runtime/metrics.js';
import { isKeyBefore } from './key.js';

/** How many bytes of items a page holds, and who hears that it would have held more. */
export interface PageBound {
  readonly max_bytes: number;
  /** Called when a page ends before its limit. */
  readonly onReached: () => void;
}

/** The bound that stands where no setting says another. */
export const defaultPage: PageBound = { max_bytes: 8 * 1024 * 1024, onReached: () => {} };

/** The bound of a service's pages, as its setting says. */
export const pageBoundOf = (service: string, PAGE_MB: number, metrics: Metrics): PageBound => ({
  max_bytes: PAGE_MB * 1024 * 1024,
  onReached: () => metrics.limits.inc({ service, limit: 'PAGE_MB' }),
});

/** Bytes of an item as it is shown. */
export const jsonBytes = (item: unknown): number => Buffer.byteLength(JSON.stringify(item));

/** Whether a page is entered from its end: what does not fit is left out at its beginning. */
export const isFromEnd = ({ key }: Pick<PageRequest, 'key'>): boolean => isKeyBefore(key);

/**
 * How many items fit, counted from where the page is entered; one always does.
 *
 * @param sizes bytes of the items, in the order of the page.
 */
export function countFitting(sizes: readonly number[], max_bytes: number, from_end: boolean): number {
  let [bytes, count] = [0, 0];
  for (; count < sizes.length; count++) {
    bytes += sizes[from_end ? sizes.length - 1 - count : count] as number;
    if (bytes > max_bytes && count > 0) break;
  }
  return count;
}

/**
 * The request of the page that ends after so many items. Its keys lead on from there, so that a walk by key misses nothing.
 *
 * @throws RpcError INVALID_ARGUMENT where the page is asked for by offset: who counts on `offset = page * limit` would
 *   miss what is left out.
 */
export function shortened(
  request: PageRequest,
  count: number,
  { onReached }: Pick<PageBound, 'onReached'>,
): PageRequest {
  onReached();
  if (request.key === '' && request.offset > 0) throw tooManyBytes(request, count);
  return { ...request, limit: count };
}

/** What is wrong with a page by offset that would have to be cut. */
export const tooManyBytes = ({ offset, limit }: PageRequest, count: number): Error =>
  invalidArgument(
    `the page at pagination.offset=${offset} is too large for pagination.limit=${limit} (PAGE_MB): ${count} fits; a walk by pagination.key takes any limit`,
  );

/**
 * Reads a page and cuts it where its items are larger than a page may be.
 *
 * @param read reads the page of a request.
 * @param sizesOf bytes of its items, in the order of the page.
 */
export async function readFitting<Page>(
  request: PageRequest,
  bound: PageBound,
  read: (request: PageRequest) => Promise<Page>,
  sizesOf: (page: Page) => readonly number[] | Promise<readonly number[]>,
): Promise<Page> {
  const page = await read(request);
  const sizes = await sizesOf(page);
  const count = countFitting(sizes, bound.max_bytes, isFromEnd(request));
  return count === sizes.length ? page : read(shortened(request, count, bound));
}

/** Most items a page holds. */
const longestPage = 1_000;

/** A page request that can be answered. @throws RpcError INVALID_ARGUMENT naming what is wrong. */
export function checkPage(page: PageRequest | undefined): PageRequest {
  if (page === undefined) throw invalidArgument('pagination is missing');
  if (page.limit < 1 || page.limit > longestPage)
    throw invalidArgument(`pagination.limit ${page.limit} is not from 1 to ${longestPage}`);
  // Beyond every list already; larger ones would not add up exactly.
  return page.offset > 2 ** 50 ? { ...page, offset: 2 ** 50 } : page;
}

/** A client's text in a message: long ones are cut. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);

/** The key of an address. @throws RpcError INVALID_ARGUMENT when it is none, naming the field. */
export function checkAddress(field: string, text: string, prefix: string): AccountKey {
  const key = parseAccount(text, prefix);
  if (key === undefined)
    throw invalidArgument(
      `${field} ${quoted(text)} is neither bech32 with the prefix ${prefix} nor 0x and hex digits`,
    );
  return key;
}
