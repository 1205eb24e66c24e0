import type { AccountKey } from '../../common/chain/address.js';
import type { Origin, TokenState } from './types.js';

/** Which token an object is. */
export interface ObjectToken {
  readonly collection: AccountKey;
  readonly id_key: string;
}

/** Who created a contract. */
export interface Creation {
  readonly creator: AccountKey | '';
  readonly timestamp: string;
  readonly at: number;
}

/**
 * What the tables say of everything that a batch touches, and then what the batch makes of
 * it. Nothing else has to be read to apply the batch.
 */
export interface Known {
  readonly tokens: Map<string, TokenState>;
  readonly objects: Map<AccountKey, ObjectToken>;
  /** Those of the objects that the tables do not have yet. */
  readonly learnt: Map<AccountKey, ObjectToken>;
  readonly origins: Map<AccountKey, Origin>;
  readonly contracts: Map<AccountKey, Creation>;
  /** Names at home of classes that came over IBC, by class name. */
  readonly classes: Map<string, string>;
  /** By countKey. */
  readonly counts: Map<string, number>;
}

/** An owner's tokens in a collection; with the owner '' the collection's length. */
export const countKey = (owner: string, collection: AccountKey): string => `${owner}/${collection}`;

/** Knows nothing. */
export const knowNothing = (): Known => ({
  tokens: new Map(),
  objects: new Map(),
  learnt: new Map(),
  origins: new Map(),
  contracts: new Map(),
  classes: new Map(),
  counts: new Map(),
});
