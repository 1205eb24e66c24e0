import type { AccountKey } from '../../common/chain/address.js';
import type { DecodeProblem } from '../../common/runtime/log.js';
import type { TextLimits } from '../text-limits.js';

/** What decoding depends on beside the block itself. */
export interface DecodeOptions {
  readonly vm: 'evm' | 'move' | 'wasm';
  /** Human part of the rollup's bech32 addresses. */
  readonly account_prefix: string;
  /** How long texts may be. Default: those of `text-limits.ts`. */
  readonly limits?: TextLimits;
}

/** The facts of a block that are not in its material. */
export interface BlockHead {
  readonly height: number;
  /** Upper-case hex. */
  readonly hash: string;
  readonly parent_hash: string;
  /** RFC 3339 in UTC, as the node gave it. */
  readonly timestamp: string;
}

/** The tx that an event belongs to. */
export interface TxRef {
  /** 64 lower-case hex digits; '' for what the block itself did. */
  readonly hash: string;
  /** Its first signer; '' when there is none. */
  readonly signer: AccountKey | '';
}

/**
 * Who owns a token: an account's key, or `?` and the text as it came where that names no
 * account of this rollup.
 */
export type Owner = string;

/** A token by its collection and id, or on Move by its object alone. */
export type TokenRef =
  | { readonly collection: AccountKey; readonly token_id: string; readonly object?: AccountKey }
  | { readonly collection?: undefined; readonly token_id?: undefined; readonly object: AccountKey };

/** What happened, in words that are the same on every virtual machine. */
export type Happening =
  /** EVM: a contract was created, of whatever kind. */
  | { readonly what: 'contract'; readonly contract: AccountKey }
  /** Something says that this is a collection, with the name where the chain says it. */
  | {
      readonly what: 'collection';
      readonly collection: AccountKey;
      readonly creator: AccountKey | '';
      readonly name?: string;
    }
  /** Move: a collection has another name. */
  | { readonly what: 'renamed'; readonly collection: AccountKey; readonly name: string }
  | { readonly what: 'mint'; readonly token: TokenRef; readonly owner: Owner; readonly uri?: string }
  | { readonly what: 'transfer'; readonly token: TokenRef; readonly owner: Owner }
  | { readonly what: 'burn'; readonly token: TokenRef }
  /** The uri is another one; without `uri` only the node knows which. */
  | { readonly what: 'uri'; readonly token: TokenRef; readonly uri?: string }
  /** Move: an event names the token and changes nothing that is shown. */
  | { readonly what: 'named'; readonly token: TokenRef }
  /** What the node says of the collection may have changed. */
  | { readonly what: 'refresh_collection'; readonly collection: AccountKey }
  /** What the node says of the tokens from one id to another may have changed. */
  | {
      readonly what: 'refresh_tokens';
      readonly collection: AccountKey;
      readonly first_id: string;
      readonly last_id: string;
    }
  /** ICS-721: what a class that came over IBC is called at home. */
  | { readonly what: 'class'; readonly class_name: string; readonly origin_name: string };

/** A happening with its place in the chain. */
export type NftEvent = Happening & {
  readonly tx: TxRef;
  /** Position among the events of the block, from 0. */
  readonly index: number;
};

/** What the nft service makes of a block. */
export interface NftBlock extends BlockHead {
  readonly events: readonly NftEvent[];
  readonly problems: readonly DecodeProblem[];
}

/** Where a decoder of a virtual machine puts what it finds in a tx. */
export interface TxSink {
  add(happening: Happening): void;
  problem(source: string, reason: string): void;
}
