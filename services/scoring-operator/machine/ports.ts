import type { BlockPin } from '../contract/at-block.js';
import type { ScoreContract } from '../contract/contract.js';
import type { RunSummary } from '../policy/explain.js';
import type { Facts } from '../policy/policy.js';
import type { Score, ScoreList, ScoreWindow } from '../policy/result.js';
import type { WindowState } from '../policy/window.js';

/** What a tx was sent for. */
export type TxPurpose = 'update' | 'finalize';

/** A tx that is about to be sent: signed, but nobody has seen it. */
export interface SignedTx {
  /** 0x hex; '' while a remote signer has it and has not said it. */
  readonly tx_hash: string;
  readonly nonce: number;
  /** The signer's account, 0x hex. */
  readonly account: string;
  readonly purpose: TxPurpose;
  readonly stage: bigint;
  /** Scores in it; 0 for a finalization. */
  readonly score_count: number;
}

/** A tx whose receipt has come. */
export interface MinedTx {
  readonly tx_hash: string;
  readonly height: number;
  readonly gas_used: bigint;
  readonly is_success: boolean;
  /** Why it failed, with the contract's own error decoded; '' for a success. */
  readonly error: string;
}

/** What a sender asks and tells while it works. Every promise is awaited before it goes on. */
export interface SendHooks {
  /** Block that a node must have reached to be believed before anything is signed. */
  leastHeight(): Promise<number>;
  /** Called before a signed tx leaves the process: what it writes survives a kill. */
  onSigned(tx: SignedTx): Promise<void>;
  onMined(tx: MinedTx): Promise<void>;
  /** The tx can never be mined: its nonce was taken by another one. */
  onReplaced(tx_hash: string): Promise<void>;
}

/** What became of a tx that was signed earlier, perhaps by a process that is gone. */
export type Settled =
  | { readonly kind: 'mined'; readonly tx: MinedTx }
  /** Its nonce is taken by another tx, or no node knows it and its nonce is free: it was never sent. */
  | { readonly kind: 'replaced' }
  | { readonly kind: 'unknown' }
  /** It waits in the pool of a node. */
  | { readonly kind: 'pending' };

/** The one who sends for a key. Its calls follow one another: one nonce queue. */
export interface ScoreSender {
  /**
   * Sets scores in batches that fit the rollup's gas, one after another, each with a successful receipt.
   * Absolute values: calling it again with the same is harmless.
   *
   * @throws an Error that says why a receipt failed or what could not be sent.
   */
  sendScores(stage: bigint, scores: readonly Score[], hooks: SendHooks, signal?: AbortSignal): Promise<void>;
  /**
   * Finalizes a stage with one tx and waits for its receipt.
   *
   * What keeps two processes with one key from finalizing twice, and one from being misled by a node that is late: the
   * nonce is the count of txs that were mined up to one block, known by its hash, `guard` looks at the same block whether the stage is
   * still open, and the tx is signed with that nonce and no other. If another finalization was mined later, this one's
   * nonce is too low.
   *
   * @param guard throws when the stage must not be finalized any more; given the block to look at.
   */
  finalize(
    stage: bigint,
    guard: (block: BlockPin) => Promise<void>,
    hooks: SendHooks,
    signal?: AbortSignal,
  ): Promise<MinedTx>;
  /**
   * Looks a tx up by hash, and by nonce when no node knows the hash.
   *
   * @param at_least a node that has not reached this block is not believed.
   */
  settle(tx: Pick<SignedTx, 'tx_hash' | 'nonce' | 'account'>, at_least?: number): Promise<Settled>;
}

/** The indexed rollup as far as the machine itself needs it. */
export interface Index {
  /** Lowest height up to which every service that the policy reads has indexed, and that block's time (unix seconds, cut). */
  head(signal?: AbortSignal): Promise<{ readonly height: number; readonly time: number }>;
  /** The blocks of a stage, or why they are not known (yet). @throws what the services throw */
  window(stage: bigint, start_time: number, end_time: number, signal?: AbortSignal): Promise<WindowState>;
}

/** A list with everything that it was computed from, and what became of the accounts in numbers. */
export interface Computed {
  readonly list: ScoreList;
  readonly facts: Facts;
  readonly summary: RunSummary;
}

/** A policy that was read, with what it computes from. */
export interface ScorePolicy {
  /** The policy as a person wrote it. */
  readonly text: string;
  /** SHA-256 of the policy in a spelling of its own, lower-case hex: the same for whatever means the same. */
  readonly hash: string;
  /** The scores of a window: the same window gives the same list. */
  compute(window: ScoreWindow, signal?: AbortSignal): Promise<Computed>;
}

/** The contract as the machine reads it. */
export type ContractReads = Pick<ScoreContract, 'address' | 'head' | 'at'>;
