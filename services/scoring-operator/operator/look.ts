import type { Decision, Observation } from '../machine/types.js';
import type { Run, StageTx } from '../store/rows.js';
import type { Reason } from './reasons.js';

/** What can be known of the signer without its key. Amounts in the rollup's smallest unit. */
export type SignerLook =
  | { readonly balance: bigint; readonly gas_price: bigint }
  | { readonly error: string };

/** Everything that the operator knows of a program from one look. */
export interface Look {
  /** Unix milliseconds. */
  readonly at: number;
  readonly observation: Observation;
  /** What the stage machine would do. */
  readonly decision: Decision;
  /** The newest runs, ascending by stage. */
  readonly runs: readonly Run[];
  /** Their txs. */
  readonly txs: ReadonlyMap<bigint, readonly StageTx[]>;
  readonly signer: SignerLook;
  /** Height of the rollup; undefined when it could not be read. */
  readonly rollup_height: number | undefined;
}

/** Why there is no look. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  /** Whether only a person can heal it. */
  readonly isLasting: boolean;
}

/** What is known of a program: the last look, and why there is no newer one. */
export interface Seen {
  readonly look?: Look | undefined;
  readonly problem?: Problem | undefined;
  /** Whether the look was made before the last change of the spec. */
  readonly isOutdated?: boolean;
}

export const unseen: Seen = {};
