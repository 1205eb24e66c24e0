import { type AccountKey, toBech32 } from '../common/chain/address.js';
import {
  type Collection,
  type Token,
  type TokenChange,
  TokenChangeKind,
} from '../common/gen/indexer/nft/v1/nft.js';
import type { SizedCollection } from './read/collections.js';
import type { PastChange } from './read/past.js';
import type { ShownToken } from './read/token-lists.js';
import { heightOf } from './store/token.js';
import { tokenIdOf } from './token-key.js';

/** How addresses are shown on a rollup. */
export interface Shower {
  collection(collection: SizedCollection): Collection;
  token(token: ShownToken): Token;
  change(change: PastChange): TokenChange;
  /** bech32 of an account; the text as it came where it names none. */
  owner(owner: string): string;
  /** 0x hex of a collection or an object, leading zeros written out. */
  address(key: AccountKey): string;
}

const kinds = {
  mint: TokenChangeKind.MINT,
  transfer: TokenChangeKind.TRANSFER,
  burn: TokenChangeKind.BURN,
  uri: TokenChangeKind.URI,
  named: TokenChangeKind.UNSPECIFIED,
} as const;

/** Positions in a block count from its first place. */
const indexOf = (at: number): number => at - heightOf(at) * 2 ** 21;

/** Makes the messages of the API. @param vm addresses have 20 bytes on EVM, 32 elsewhere. */
export function createShower(vm: string, account_prefix: string): Shower {
  const digits = vm === 'evm' ? 40 : 64;
  const address = (key: AccountKey): string => `0x${key.padStart(digits, '0')}`;
  const owner = (text: string): string => {
    if (text.startsWith('?')) return text.slice(1);
    return text === '' ? '' : toBech32(text, account_prefix);
  };
  return {
    address,
    owner,
    collection: ({ collection, creator, name, origin_name, length, born_at, timestamp }) => ({
      object_addr: address(collection),
      collection: { creator: owner(creator), name, origin_name, nfts: { handle: '', length } },
      height: heightOf(born_at),
      timestamp,
    }),
    token: ({ token, collection }) => ({
      collection_addr: address(token.collection),
      collection_name: collection.name,
      collection_origin_name: collection.origin_name,
      object_addr: token.object === '' ? '' : address(token.object),
      owner: owner(token.owner),
      nft: { token_id: tokenIdOf(token.id_key), uri: token.uri },
      height: token.height,
      timestamp: token.timestamp,
    }),
    change: (change) => ({
      height: heightOf(change.at),
      index: indexOf(change.at),
      collection_addr: address(change.collection),
      token_id: tokenIdOf(change.id_key),
      kind: kinds[change.kind],
      previous_owner: owner(change.previous_owner),
      owner: owner(change.owner),
      tx_hash: change.tx_hash.toUpperCase(),
      timestamp: change.timestamp,
    }),
  };
}
