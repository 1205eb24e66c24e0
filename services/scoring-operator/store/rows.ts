import type { TxPurpose } from '../machine/ports.js';
import type { RunSummary } from '../policy/explain.js';
import type { ScoreWindow } from '../policy/result.js';

/** When a stage was, as the L1 said. Unix seconds. */
export interface SeenStage {
  readonly stage: bigint;
  readonly start_time: number;
  readonly end_time: number;
}

/** What became of the accounts that have no score, or a smaller one than their points. */
export type RunCounts = Pick<RunSummary, 'without' | 'capped' | 'fitted'>;

/** What is kept of a stage. Absolute values. */
export interface Run {
  readonly stage: bigint;
  readonly window: ScoreWindow;
  /** Hash of the window's last block, upper-case hex; '' when it has none. */
  readonly to_hash: string;
  readonly policy_hash: string;
  readonly list_hash: string;
  readonly score_count: number;
  readonly total: bigint;
  readonly counts: RunCounts;
  readonly is_verified: boolean;
  readonly is_finalized: boolean;
  /** Why the last attempt failed; '' when it did not. */
  readonly error: string;
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly updated_at: number;
}

/** What has become of a tx. `failed`: mined, and its receipt says so. */
export type TxState = 'signed' | 'mined' | 'failed' | 'replaced';

/** A tx of a stage. */
export interface StageTx {
  readonly stage: bigint;
  readonly tx_hash: string;
  readonly purpose: TxPurpose;
  readonly account: string;
  readonly nonce: number;
  readonly score_count: number;
  readonly list_hash: string;
  readonly state: TxState;
  readonly height: number;
  readonly gas_used: bigint;
  readonly error: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A stage that is finalized. */
export interface Finalization {
  readonly stage: bigint;
  /** Of the tx that finalized it, and of its block; '' and 0 where somebody else did, or that is not known. */
  readonly tx_hash: string;
  readonly height: number;
}

/** What was compared after sending. */
export interface Check {
  readonly stage: bigint;
  readonly at: number;
  readonly list_hash: string;
  /** scores, count, total, strays, receipt, finalized ... */
  readonly name: string;
  readonly is_ok: boolean;
  readonly expected: string;
  readonly found: string;
}

/** A decision that was something else than the one before. */
export interface LoggedDecision {
  readonly at: number;
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
  /** 0 where it is about no stage. */
  readonly stage: bigint;
}
