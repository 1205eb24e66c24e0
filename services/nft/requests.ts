import type { AccountKey } from '../common/chain/address.js';
import { TokenOrder } from '../common/gen/indexer/nft/v1/nft.js';
import { checkAddress } from '../common/page/fit.js';
import { invalidArgument } from '../common/runtime/errors.js';
import type { TokenOrder as Order } from './read/token-lists.js';

/** The key of an address, where empty means none. @throws RpcError INVALID_ARGUMENT */
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
