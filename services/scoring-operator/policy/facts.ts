import type { AccountKey } from '../../common/chain/address.js';
import type { ScoreWindow } from './result.js';

/** What one rule measured of every account. */
export interface Measure {
  /**
   * Measured values above 0 by account of 20 bytes: whole numbers of `1 / denominator`. An
   * average has the stage's nanoseconds as its denominator, anything else 1.
   */
  readonly values: ReadonlyMap<AccountKey, bigint>;
  readonly denominator: bigint;
  /** Accounts of 32 bytes that have a value too, and get nothing for it. */
  readonly left_out: number;
  /** Where the values are from, for a rule of the kind source. */
  readonly source?: SourceProof;
}

/** What was read from a file or URL. */
export interface SourceProof {
  readonly location: string;
  /** Of its bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** '' where there is none. */
  readonly etag: string;
}

/** Everything that scores are computed from: the same facts give the same scores. */
export interface Facts {
  readonly window: ScoreWindow;
  /** Hash of the window's last block, upper-case hex; '' when there is no such block. */
  readonly to_hash: string;
  /** By the name of the rule. */
  readonly measures: ReadonlyMap<string, Measure>;
}
