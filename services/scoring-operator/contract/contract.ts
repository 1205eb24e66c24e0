import type { Score } from '../policy/result.js';
import type { BlockPin } from './at-block.js';

/** What a contract says of a stage; undefined where it has no such stage. */
export interface ContractStage {
  readonly stage: bigint;
  readonly total_score: bigint;
  readonly is_finalized: boolean;
}

/** A tx as the chain has it. */
export interface Receipt {
  readonly tx_hash: string;
  readonly height: number;
  /** Whether the receipt says success. */
  readonly is_success: boolean;
  readonly gas_used: bigint;
  /** Why it failed, with the contract's own error decoded; '' for a success. */
  readonly error: string;
}

/** Reads of a contract, all on the state of one block. They throw NodeError `behind` where the node lacks it. */
export interface ContractState {
  /** Number of the block. */
  readonly height: number;
  /** First stage of the contract; undefined where it does not say (the oldest ones). */
  initStage(): Promise<bigint | undefined>;
  stage(stage: bigint): Promise<ContractStage | undefined>;
  isAllowed(account: string): Promise<boolean>;
  /** Every score of a stage as the contract has it, without padding, zero amounts included. */
  scores(stage: bigint): Promise<readonly Score[]>;
}

/**
 * Reads and writes of one scoring contract, our own or one that operators have deployed before. Reads that are not of
 * `at` are of the newest block, each by itself: for tools that look at one thing.
 */
export interface ScoreContract extends Omit<ContractState, 'height'> {
  /** 0x hex with checksum. */
  readonly address: string;
  /**
   * Number of the node's newest block.
   *
   * @param at_least a node that has not reached this block is not believed.
   * @throws NodeError `behind` when the node has not reached it.
   */
  head(at_least: number, signal?: AbortSignal): Promise<number>;
  /** The state of a block; nothing is asked yet. @param signal ends every read of it. */
  at(block: BlockPin, signal?: AbortSignal): ContractState;
  /** Gas that an update of these would take. @throws ContractError when it would fail. */
  estimateUpdate(stage: bigint, scores: readonly Score[]): Promise<bigint>;
  estimateFinalize(stage: bigint): Promise<bigint>;
}
