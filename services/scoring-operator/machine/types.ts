import type { ContractStage } from '../contract/contract.js';
import type { ScoreWindow } from '../policy/result.js';
import type { Finalization } from '../store/rows.js';
import type { ChainFacts, WantedChain } from './chain.js';

/** What the L1 says of the program. Times are unix seconds. */
export interface L1Stage {
  readonly stage: bigint;
  readonly stage_start_time: number;
  readonly stage_end_time: number;
  readonly stage_interval: number;
  readonly challenge_period: number;
  /** Time of the L1's newest block. */
  readonly l1_time: number;
  /** Whether that time has moved on since it was last looked at. */
  readonly is_moving: boolean;
}

/** Why there is nothing to go by. */
export interface Unread {
  readonly error: string;
  /** One word, where it is another one than that it cannot be read. */
  readonly reason?: 'L1Contradicts' | 'NodeBehind';
}

/** What the L1 has registered of this rollup. */
export type Registration =
  | {
      readonly kind: 'registered';
      /** Of the registration in force. */
      readonly version: bigint;
      readonly init_stage: bigint;
      /** Whether the contract registered is the one that is written to. */
      readonly is_ours: boolean;
      /** As the L1 spells it. */
      readonly contract: string;
    }
  /** The L1 was asked, and does not know this rollup (yet). */
  | { readonly kind: 'unregistered' }
  /** No bridge id is configured, so nothing is compared. */
  | { readonly kind: 'unchecked' }
  | { readonly kind: 'error'; readonly error: string };

/** One unfinished or finished run for a stage, as our own tables have it. */
export interface KnownRun {
  readonly stage: bigint;
  readonly window: ScoreWindow | undefined;
  /** Hash of the window's last block when the list was computed; '' when there is none. */
  readonly to_hash: string;
  /** Hash of the list that was computed; '' before. */
  readonly list_hash: string;
  /** Whether the contract was read back and equals the list. */
  readonly is_verified: boolean;
  readonly is_finalized: boolean;
  /** How many scores the list has; undefined before. */
  readonly score_count?: number | undefined;
}

/** The blocks of the oldest open stage, or why they are not known. */
export type OpenWindow =
  | {
      readonly kind: 'known';
      readonly window: ScoreWindow;
      /** Hash of the window's last block as it is now: another one means that the chain was rolled back. */
      readonly to_hash: string;
    }
  /** The index does not reach past the end of the stage yet. */
  | { readonly kind: 'behind'; readonly message: string }
  /** The index does not reach back to the start of the stage, and never will by itself. */
  | { readonly kind: 'missing'; readonly message: string }
  /** No time that was seen or told says when the stage was. */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'error'; readonly error: string };

/** Everything that is looked at before anything is decided. Reading failures are part of it. */
export interface Observation {
  /** Unix seconds of this machine; never decides anything alone. */
  readonly now: number;
  readonly l1: L1Stage | Unread;
  readonly contract:
    | {
        readonly init_stage: bigint | undefined;
        /** Those that were looked at, ascending: from the oldest open one to the L1's. */
        readonly stages: readonly ContractStage[];
        readonly is_allowed: boolean;
        /** First stage of the contract, also of one that does not say it; undefined when it has none. */
        readonly first_stage?: bigint | undefined;
        /** Block that all of it was read at. */
        readonly height?: number | undefined;
      }
    | Unread;
  /** Lowest height up to which every service that the policy reads has indexed, and that block's time. */
  readonly indexer: { readonly height: number; readonly time: number } | { readonly error: string };
  readonly runs: readonly KnownRun[];
  /** Stages that our own tables say are finalized: by a run, or by the receipt of a tx. */
  readonly finalized?: readonly Finalization[] | undefined;
  /** Which chain everything is of, and what was wanted. */
  readonly chain?: { readonly facts: ChainFacts; readonly wanted: WantedChain } | undefined;
  readonly registration?: Registration | undefined;
  /** Of the oldest open stage; undefined while it runs, or when it could not be looked for. */
  readonly window?: OpenWindow | undefined;
}

/** The blocks that a stage is scored from. */
export interface StageBlocks {
  readonly stage: bigint;
  readonly window: ScoreWindow;
  /** Hash of the window's last block; '' when there is none. */
  readonly to_hash: string;
}

/** What to do next. Exactly one thing; the loop looks again after it. Reasons are one CamelCase word. */
export type Decision =
  | {
      readonly kind: 'nothing';
      readonly reason: string;
      readonly message?: string;
      /** Unix seconds of the L1 when there will be something to do. */
      readonly until?: number;
    }
  | { readonly kind: 'wait'; readonly reason: string; readonly message: string; readonly until?: number }
  | ({ readonly kind: 'score' } & StageBlocks)
  | { readonly kind: 'finalize'; readonly stage: bigint; readonly list_hash: string }
  | { readonly kind: 'alarm'; readonly reason: string; readonly message: string };

/** What a person has decided beforehand about a program. */
export interface Rules {
  /** Seconds of the L1's time after the end of a stage before it is finalized while the L1 still names it. */
  readonly margin_s: number;
  /** Automatic: stages are finalized without a person. Manual: with the list that a person has approved. */
  readonly approval: 'Automatic' | 'Manual';
  /** Last stage that a person has approved; undefined for none. */
  readonly approved_stage: bigint | undefined;
  /** Hash of the list that a person has approved; undefined for none. */
  readonly approved_list?: string | undefined;
  /** Stages that may be finalized without any score: a person's explicit word for each. */
  readonly allow_empty: readonly bigint[];
  /** Version of the registration that the program is for; undefined for any. */
  readonly vip_version?: bigint | undefined;
  /** Last stage to finalize; undefined for all that come. */
  readonly stop_at_stage: bigint | undefined;
}
