import { invalidArgument } from '../errors.js';
import type { PageRequest } from '../gen/indexer/common/v1/common.js';

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
