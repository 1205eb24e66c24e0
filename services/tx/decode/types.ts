import type { AccountKey } from '../../common/chain/address.js';

/** What decoding depends on beside the block itself. */
export interface DecodeOptions {
  vm: 'evm' | 'move' | 'wasm';
  /** Human part of the rollup's bech32 addresses. */
  account_prefix: string;
  /** Accounts that a tx is listed under at most, and stores: `ACCOUNTS_PER_TX`. Default: 100,000. */
  accounts_per_tx?: number;
}

/** The facts of a block that are not in its material. */
export interface BlockHead {
  height: number;
  /** Upper-case hex. */
  hash: string;
  parent_hash: string;
  /** RFC 3339 in UTC, as the node gave it. */
  timestamp: string;
}

export interface DecodedBlock extends BlockHead {
  /** In the order of the block. */
  txs: DecodedTx[];
  /** In the order of the receipts; empty on rollups without EVM. */
  evm_txs: DecodedEvmTx[];
  /** Move: primary stores that came to be in this block. */
  stores: StoreOwner[];
  /** What could not be read, for the log: the block is indexed all the same. */
  problems: string[];
}

export interface DecodedTx {
  /** SHA-256 of the raw bytes, 64 lower-case hex digits. */
  hash: string;
  /** JSON text of the tx as the API answers it. */
  body: string;
  /** Distinct types of the top-level messages, in order, without the leading slash. */
  msgs: string[];
  /** What it names. Made anew by each call where it would take more memory than the text that it is read from. */
  named(): NamedByTx;
}

/** What a tx names. */
export interface NamedByTx {
  /** Every account that the tx names, and whether it is a signer; signers first, in order. */
  readonly accounts: ReadonlyMap<AccountKey, boolean>;
  /** Move: stores named in it. The owner of a primary store counts as named where only the store is. */
  readonly stores: readonly AccountKey[];
  /** Whether it names more than that: see `DecodeOptions.accounts_per_tx`. */
  readonly is_cut: boolean;
}

export interface DecodedEvmTx {
  /** 64 lower-case hex digits. */
  hash: string;
  /** JSON text: the receipt as the node gave it, and the block's timestamp. */
  body: string;
  /** Every account of the receipt, and whether it is its `from`. */
  accounts: Map<AccountKey, boolean>;
}

export interface StoreOwner {
  store: AccountKey;
  owner: AccountKey;
}

export interface DecodedFrame {
  /** Ethereum hash of the tx, 64 lower-case hex digits. */
  hash: string;
  /** Index of the caller's frame, -1 for the top one. */
  parent_index: number;
  /** Position in pre-order, from 0. */
  index: number;
  /** JSON text of the call as the API answers it. */
  body: string;
  /** The frame's from (true) and to (false). */
  accounts: Map<AccountKey, boolean>;
}
