import type { AccountKey } from '../../common/chain/address.js';
import type { Owner } from '../decode/types.js';

/** What a change did. */
export type ChangeKind = 'mint' | 'transfer' | 'burn' | 'uri' | 'named';

/** A row of `changes` and `history`. */
export interface Change {
  readonly at: number;
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly kind: ChangeKind;
  readonly previous_owner: Owner;
  readonly owner: Owner;
  readonly uri: string;
  readonly object: string;
  readonly ord: number;
  readonly listed: boolean;
  readonly tx_hash: string;
  readonly timestamp: string;
}

/** A token as a change leaves it. */
export interface TokenState {
  readonly object: string;
  readonly owner: Owner;
  readonly uri: string;
  readonly burnt: boolean;
  readonly minted_at: number;
  readonly height: number;
  readonly timestamp: string;
  readonly tx_count: number;
  readonly last_tx: string;
  readonly at: number;
}

/** A row of `births`. */
export interface Birth {
  readonly collection: AccountKey;
  readonly kind: 'seen' | 'certain' | 'renamed';
  readonly born_at: number;
  readonly creator: AccountKey | '';
  readonly name: string;
  readonly timestamp: string;
  readonly at: number;
}

/** What the chain says of a collection, all its birth rows together. */
export interface Origin {
  readonly certain: boolean;
  readonly born_at: number;
  readonly creator: AccountKey | '';
  /** Where the chain says it; '' elsewhere. */
  readonly name: string;
  readonly timestamp: string;
  readonly at: number;
  /** Place of its first row, which was the first to make us ask. */
  readonly told_at: number;
}

/** A row of `asks`. */
export interface Ask {
  readonly at: number;
  readonly subject: 'collection' | 'tokens';
  readonly collection: AccountKey;
  readonly first_key: string;
  readonly last_key: string;
}

/** A row of `account_history`: what a change of a token changes for an account, or for its collection. */
export interface AccountChange {
  /** '' for the collection as a whole. */
  readonly account: AccountKey | '';
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly at: number;
  /** 1 where the token is one more, -1 where it is one less, 0 where it changes in another way. */
  readonly change: 1 | 0 | -1;
}

/** A name of a collection, as the node or a block said it. */
export interface CollectionName {
  readonly collection: AccountKey;
  readonly name: string;
  /** The name at home, where the collection came over IBC. */
  readonly origin_name: string;
  readonly creator: AccountKey | '';
  /** Position of what told the name. */
  readonly at: number;
}

/** A collection as it is shown. */
export interface ShownCollection {
  readonly collection: AccountKey;
  readonly born_at: number;
  readonly creator: AccountKey | '';
  readonly name: string;
  readonly origin_name: string;
  readonly timestamp: string;
}

/** A token's name in memory. */
export const tokenName = (collection: AccountKey, id_key: string): string => `${collection}/${id_key}`;
