import { type AccountKey, parseAccount } from '../common/chain/address.js';
import { invalidArgument } from '../common/errors.js';
import { TokenOrder } from '../common/gen/indexer/nft/v1/nft.js';
import type { TokenOrder as Order } from './read/token-lists.js';

const shown = (text: string): string => JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}...` : text);

/** The key of an address. @throws RpcError INVALID_ARGUMENT when it is none, naming the field. */
export function checkAddress(field: string, text: string, prefix: string): AccountKey {
  const key = parseAccount(text, prefix);
  if (key === undefined)
    throw invalidArgument(
      `${field} ${shown(text)} is neither bech32 with the prefix ${prefix} nor 0x and hex digits`,
    );
  return key;
}

/** The same where empty means none. */
export const checkOptionalAddress = (field: string, text: string, prefix: string): AccountKey | '' =>
  text === '' ? '' : checkAddress(field, text, prefix);

/** How to sort tokens. @throws RpcError INVALID_ARGUMENT */
export function checkOrder(order: TokenOrder): Order {
  switch (order) {
    case TokenOrder.UNSPECIFIED:
    case TokenOrder.TOKEN_ID:
      return 'token_id';
    case TokenOrder.HEIGHT:
      return 'height';
    default:
      throw invalidArgument(`order_by ${order} is none of the ways to sort tokens`);
  }
}
