import { type AccountKey, parseAccount } from '../chain/address.js';
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
