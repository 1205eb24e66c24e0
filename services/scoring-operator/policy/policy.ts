import type { AccountKey } from '../../common/chain/address.js';
import { UserError } from '../../common/runtime/errors.js';
import { messagesWithoutKeys } from './mask.js';
import type { Rational } from './points.js';
import type { ScoreWindow } from './result.js';

/*
 * A policy as it is computed with: every default filled in, every account a key. What the
 * members mean is documented in schema.json.
 */

/** What every rule has. */
export interface RuleBase {
  readonly name: string;
  readonly weight: Rational;
  readonly divisor: Rational;
  readonly minimum: Rational | undefined;
  readonly cap: Rational | undefined;
}

/** Counts transactions, or adds up their gas. */
export interface TransactionsRule extends RuleBase {
  readonly kind: 'transactions' | 'gas_used';
  readonly only_successful: boolean;
  /** Without a leading slash; empty for all. */
  readonly msg_types: readonly string[];
  readonly signers: 'first' | 'all';
}

/** Counts calls of contracts. */
export interface CallsRule extends RuleBase {
  readonly kind: 'calls';
  readonly only_successful: boolean;
  /** Empty for all. */
  readonly contracts: readonly AccountKey[];
  /** 0x and 8 lower-case hex digits; empty for all. */
  readonly selectors: readonly string[];
}

/** Adds up what balances change by. */
export interface VolumeRule extends RuleBase {
  readonly kind: 'volume';
  readonly denom: string;
  readonly direction: 'sent' | 'received' | 'both';
}

/** Measures balances. */
export interface HoldingsRule extends RuleBase {
  readonly kind: 'holdings';
  readonly denom: string;
  readonly at: 'end' | 'average';
}

/** Counts NFTs held. */
export interface NftsRule extends RuleBase {
  readonly kind: 'nfts';
  readonly collection: AccountKey;
  readonly at: 'end' | 'average';
}

/** Takes values from elsewhere. */
export interface SourceRule extends RuleBase {
  readonly kind: 'source';
  /** Path or URL, as the policy has it. */
  readonly location: string;
  /** Where relative paths start from. */
  readonly folder: string;
  readonly is_url: boolean;
  /** Lower-case hex; undefined when any bytes are taken. */
  readonly sha256: string | undefined;
  readonly duplicates: 'refuse' | 'sum';
  readonly max_bytes: number;
  readonly timeout_ms: number;
}

export type Rule = TransactionsRule | CallsRule | VolumeRule | HoldingsRule | NftsRule | SourceRule;

/** How the activity of a stage becomes scores. */
export interface Policy {
  readonly name: string;
  readonly description: string;
  readonly rules: readonly Rule[];
  readonly exclude: ReadonlySet<AccountKey>;
  readonly minimum: bigint | undefined;
  readonly cap: bigint | undefined;
  readonly fit_total: bigint | undefined;
  /** SHA-256 of the policy in a spelling of its own: the same for whatever means the same. */
  readonly hash: string;
}

/** The largest sum of scores that a contract can hold. */
export const largestTotal = 2n ** 64n - 1n;

/** A policy that cannot be used: every mistake that was found in it, together. What may be a key is not shown. */
export class PolicyError extends UserError {
  override name = 'PolicyError';

  readonly mistakes: readonly string[];

  constructor(
    readonly policy: string,
    found: readonly string[],
  ) {
    const mistakes = messagesWithoutKeys(found);
    super(
      `${policy} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
    this.mistakes = mistakes;
  }
}

/** Scores that cannot be worked out from the facts as they are, whatever is tried again. */
export class ScoringError extends UserError {
  override name = 'ScoringError';
}

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
