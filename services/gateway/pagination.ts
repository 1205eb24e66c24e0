import type { PageRequest, PageResponse } from '../common/gen/indexer/common/v1/common.js';
import { tooManyBytes } from '../common/page/fit.js';
import { type ArgumentsOf, booleanParameter, integerParameter, textParameter } from './parameters.js';

/** The parameters of the block list, which always counts. */
export const blockPageParameters = {
  'pagination.key': textParameter(
    'Where to go on: `next_key` or `previous_key` of an earlier answer. Empty means the first page. Wins over the offset.',
  ),
  'pagination.offset': integerParameter(
    0,
    0,
    undefined,
    'How many items to skip. A page by offset is never shortened: where its items are too large, the answer is a 400 that names a limit that fits.',
  ),
  'pagination.limit': integerParameter(
    100,
    1,
    1000,
    'How many items a page holds at most. Where items are large a page ends earlier, and `next_key` leads on.',
  ),
  'pagination.reverse': booleanParameter(true, 'Newest (or largest) first.'),
};

/** The five parameters of every other list. */
export const pageParameters = {
  ...blockPageParameters,
  'pagination.count_total': booleanParameter(true, 'Whether `total` is counted; it is "0" when not.'),
};

/** The checked values of the page parameters. */
export type PageArguments = ArgumentsOf<typeof blockPageParameters> & {
  'pagination.count_total'?: boolean;
  'pagination.by_offset'?: boolean;
};

/** A page as a client has asked for it. */
export interface AskedPage extends PageRequest {
  /** Whether it names an offset, if only 0, and no key: the next one will count on what this one holds. */
  readonly by_offset: boolean;
}

/** @throws RpcError INVALID_ARGUMENT when a page by offset holds less than it was asked for though there is more. */
export function checkWhole(request: AskedPage, count: number, page: PageResponse | undefined): void {
  if (request.by_offset && count < request.limit && page?.next_key) throw tooManyBytes(request, count);
}

/** The request of a page, as services take it. */
export function pageRequest(page: PageArguments): AskedPage {
  const key = page['pagination.key'];
  return {
    key,
    offset: key === '' ? page['pagination.offset'] : 0,
    limit: page['pagination.limit'],
    count_total: page['pagination.count_total'] ?? true,
    reverse: page['pagination.reverse'],
    by_offset: page['pagination.by_offset'] === true,
  };
}

/** What stands in for a key where there is no such page. */
export type AbsentKey = '' | 'null';

/** The pagination object of an answer. */
export function pageJson(page: PageResponse | undefined, absent: AbsentKey): string {
  const key = (text: string | undefined): string | null => text || (absent === 'null' ? null : '');
  return JSON.stringify({
    next_key: key(page?.next_key),
    previous_key: key(page?.previous_key),
    total: page?.total || '0',
  });
}

/**
 * Whether a page of an append-only list can no longer change: it was asked for by key and
 * without the total, and something newer than its newest item is already there. Newest
 * first that is the page before it; oldest first it is the page after it.
 */
export function isSettledPage(request: PageRequest, page: PageResponse | undefined): boolean {
  return (
    request.key !== '' &&
    !request.count_total &&
    page !== undefined &&
    page.previous_key !== '' &&
    (request.reverse || page.next_key !== '')
  );
}
