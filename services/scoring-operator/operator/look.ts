import type { Decision, Observation } from '../machine/types.js';
import type { Run, StageTx } from '../store/rows.js';
import type { Reason } from './reasons.js';

/** What can be known of the signer without its key. Amounts in the rollup's smallest unit. */
export type SignerLook =
  | {
      readonly balance: bigint;
      readonly gas_price: bigint;
      /** Highest price that is ever offered; undefined for any. */
      readonly max_gas_price?: bigint | undefined;
    }
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

/** That gas costs more than may be paid, in words; undefined when it does not, or that is not known. */
export function gasTooDear(signer: SignerLook): string | undefined {
  if ('error' in signer) return undefined;
  const { gas_price, max_gas_price } = signer;
  if (max_gas_price === undefined || gas_price <= max_gas_price) return undefined;
  return `gas costs ${gas_price} wei, and at most ${max_gas_price} may be offered (rollup.max_gas_price, TX_MAX_GAS_PRICE): nothing is sent`;
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
