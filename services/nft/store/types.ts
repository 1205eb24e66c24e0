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

/** A collection as it is shown. */
export interface ShownCollection {
  readonly collection: AccountKey;
  readonly born_at: number;
  readonly creator: AccountKey | '';
  readonly name: string;
  readonly origin_name: string;
  readonly timestamp: string;
  /** Place of what told the name. */
  readonly at: number;
}

/** A token's name in memory. */
export const tokenName = (collection: AccountKey, id_key: string): string => `${collection}/${id_key}`;
