import type { AccountKey } from '../../common/chain/address.js';
import type { NftBlock } from '../decode/types.js';
import { tokenKey } from '../token-key.js';
import { countKey, type Known } from './known.js';
import { isAccount } from './tables.js';
import { tokenName } from './types.js';

/** Whose count in which collection. */
export interface CountPlace {
  readonly owner: string;
  readonly collection: AccountKey;
}

/** Everything that blocks name, to be looked up before they are applied. */
export interface Touched {
  /** Tokens that are named by collection and id. */
  readonly tokens: Map<string, { collection: AccountKey; id_key: string }>;
  /** Move: objects that are named without saying which token they are. */
  readonly objects: Set<AccountKey>;
  readonly collections: Set<AccountKey>;
  /** Names that may be those of classes that came over IBC. */
  readonly names: Set<string>;
}

/** What the events of blocks name. */
export function touchedBy(blocks: readonly NftBlock[]): Touched {
  const touched: Touched = {
    tokens: new Map(),
    objects: new Set(),
    collections: new Set(),
    names: new Set(),
  };
  for (const { events } of blocks) {
    for (const event of events) {
      if ('collection' in event) touched.collections.add(event.collection);
      if ('name' in event && event.name?.includes('/')) touched.names.add(event.name);
      if (!('token' in event)) continue;
      const { collection, token_id, object } = event.token;
      if (collection === undefined) touched.objects.add(object);
      else {
        const id_key = tokenKey(token_id);
        touched.tokens.set(tokenName(collection, id_key), { collection, id_key });
        touched.collections.add(collection);
      }
    }
  }
  return touched;
}

/** The counts that change when these blocks are applied to what is known of their tokens. */
export function countsTouchedBy(blocks: readonly NftBlock[], known: Known): Map<string, CountPlace> {
  const counts = new Map<string, CountPlace>();
  const add = (owner: string, collection: AccountKey): void => {
    if (owner === '' || isAccount(owner)) counts.set(countKey(owner, collection), { owner, collection });
  };
  for (const { events } of blocks) {
    for (const event of events) {
      if (!('token' in event)) continue;
      const { collection, object, token_id } = event.token;
      const place =
        collection === undefined ? known.objects.get(object) : { collection, id_key: tokenKey(token_id) };
      if (place === undefined) continue;
      add('', place.collection);
      if ('owner' in event) add(event.owner, place.collection);
      const state = known.tokens.get(tokenName(place.collection, place.id_key));
      if (state !== undefined) add(state.owner, place.collection);
    }
  }
  return counts;
}
