import type { AccountKey } from '../../common/chain/address.js';
import { type Reader, startReading } from '../read/reader.js';
import { readShown } from '../read/shown.js';
import { readSaidUris } from '../read/tokens.js';
import type { ObjectToken } from '../store/known.js';
import { lookUpObjects, lookUpTokens, type TokenPlace } from '../store/lookups.js';
import { tokenName } from '../store/types.js';
import type { CollectionAnswer } from './source.js';

/** A uri that the node said. */
export interface EarlierUri {
  readonly uri: string;
  /** Place of what had made us ask for it. */
  readonly at: number;
}

/**
 * What the tables in use know of details, for those that are rebuilt beside them: it stands
 * for what the node does not say now.
 */
export interface Earlier {
  /** Collections that are shown. */
  collections(collections: readonly AccountKey[]): Promise<ReadonlyMap<AccountKey, CollectionAnswer>>;
  /** Uris of tokens that exist, by tokenName. */
  uris(places: readonly TokenPlace[]): Promise<ReadonlyMap<string, EarlierUri>>;
  /** Which tokens objects are. */
  objects(objects: readonly AccountKey[]): Promise<ReadonlyMap<AccountKey, ObjectToken>>;
}

/** Reads them through the reader of the tables in use. */
export function earlierIn(reader: Reader): Earlier {
  const { database, tables } = reader;
  return {
    collections: (collections) => readShown(startReading(reader, {}), collections),
    objects: (objects) => lookUpObjects(database, tables, objects),
    async uris(places) {
      if (places.length === 0) return new Map();
      const states = await lookUpTokens(database, tables, places);
      const rows = await readSaidUris(startReading(reader, {}), places);
      const uris = new Map<string, EarlierUri>();
      for (const { collection, id_key, uri, is_void, at } of rows) {
        const name = tokenName(collection, id_key);
        const state = states.get(name);
        // What was said of an earlier token of this id, or of one that is gone, is void.
        if (!is_void && state !== undefined && !state.burnt && at >= state.minted_at)
          uris.set(name, { uri, at });
      }
      return uris;
    },
  };
}
