import type { AccountKey } from '../../common/chain/address.js';
import type { AnswerBound } from '../../common/chain/endpoints.js';
import type { Outcome } from './outcome.js';

/**
 * What answers about details are read up to while several questions are under way. A hundred uris of some kilobytes
 * fit.
 */
export const smallAnswer: AnswerBound = { bytes: 1024 * 1024 };

/** What the node says of a collection. */
export interface CollectionAnswer {
  readonly name: string;
  /** Where the node says it; '' elsewhere. */
  readonly creator: AccountKey | '';
}

/** A token to ask about. */
export interface TokenQuestion {
  readonly collection: AccountKey;
  readonly token_id: string;
  /** Move: its object. */
  readonly object: string;
}

/** How the node of a virtual machine is asked for details. */
export interface DetailSource {
  /**
   * @param height what is asked for is the state after this block, or a later one: a node that
   *   does not have the block yet has not answered.
   */
  collections(
    collections: readonly AccountKey[],
    height: number,
    signal: AbortSignal,
  ): Promise<Outcome<CollectionAnswer>[]>;
  /** Uris; undefined where the node has none to say: what the chain said stands. */
  uris(
    tokens: readonly TokenQuestion[],
    height: number,
    signal: AbortSignal,
  ): Promise<Outcome<string | undefined>[]>;
}
