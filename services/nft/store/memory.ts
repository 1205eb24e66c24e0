import type { AccountKey } from '../../common/chain/address.js';
import type { Database } from '../../common/clickhouse/database.js';
import { createLru } from '../../common/util/lru.js';
import type { NftBlock } from '../decode/types.js';
import { type Known, knowNothing, type ObjectToken } from './known.js';
import {
  lookUpClasses,
  lookUpContracts,
  lookUpCounts,
  lookUpObjects,
  lookUpOrigins,
  lookUpTokens,
} from './lookups.js';
import type { Tables } from './tables.js';
import { countsTouchedBy, touchedBy } from './touched.js';
import type { Origin, TokenState } from './types.js';

/** Finds which tokens objects are that came to be before the first indexed block. */
export type ResolveObjects = (
  objects: readonly AccountKey[],
) => Promise<ReadonlyMap<AccountKey, ObjectToken>>;

/** What the one writer remembers of the tables, so that it need not look at them for every batch. */
export interface Memory {
  /** What the tables say of everything that blocks touch. */
  know(blocks: readonly NftBlock[]): Promise<Known>;
  /** Remembers what is written now. */
  keep(known: Known): void;
  /** Forgets everything: after a failure, and after a rollback. */
  clear(): void;
}

export interface MemoryOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly vm: 'evm' | 'move' | 'wasm';
  /** How many tokens to remember; of other things in proportion. */
  readonly capacity: number;
  readonly resolveObjects?: ResolveObjects | undefined;
}

/** Reads what is not in memory, all of a kind in one go. */
export function createMemory({ database, tables, vm, capacity, resolveObjects }: MemoryOptions): Memory {
  // `null` stands for what is known not to be there.
  const tokens = createLru<string, { state: TokenState | null }>(capacity, {
    lengthOf: ({ state }) => (state === null ? 0 : state.uri.length + state.owner.length),
  });
  const objects = createLru<AccountKey, { token: ObjectToken | null }>(capacity, {
    lengthOf: ({ token }) => token?.id_key.length ?? 0,
  });
  const origins = createLru<AccountKey, { origin: Origin | null }>(capacity, {
    lengthOf: ({ origin }) => origin?.name.length ?? 0,
  });
  const counts = createLru<string, number>(capacity);

  const knowObjects = async (known: Known, wanted: ReadonlySet<AccountKey>): Promise<void> => {
    const missing: AccountKey[] = [];
    for (const object of wanted) {
      const held = objects.get(object);
      if (held === undefined) missing.push(object);
      else if (held.token !== null) known.objects.set(object, held.token);
    }
    const found = await lookUpObjects(database, tables, missing);
    for (const [object, token] of found) known.objects.set(object, token);
    const unknown = missing.filter((object) => !found.has(object));
    if (unknown.length > 0 && resolveObjects !== undefined)
      for (const [object, token] of await resolveObjects(unknown)) {
        known.objects.set(object, token);
        known.learnt.set(object, token);
      }
    for (const object of unknown) if (!known.objects.has(object)) objects.set(object, { token: null });
  };

  const knowOrigins = async (known: Known, wanted: ReadonlySet<AccountKey>): Promise<void> => {
    const missing: AccountKey[] = [];
    for (const collection of wanted) {
      const held = origins.get(collection);
      if (held === undefined) missing.push(collection);
      else if (held.origin !== null) known.origins.set(collection, held.origin);
    }
    for (const [collection, origin] of await lookUpOrigins(database, tables, missing))
      known.origins.set(collection, origin);
    if (vm !== 'evm') return;
    const unborn = [...wanted].filter((collection) => !known.origins.has(collection));
    for (const [contract, creation] of await lookUpContracts(database, tables, unborn))
      known.contracts.set(contract, creation);
  };

  const knowTokens = async (known: Known, wanted: ReadonlyMap<string, ObjectToken>): Promise<void> => {
    const missing = new Map<string, ObjectToken>();
    for (const [name, place] of wanted) {
      const held = tokens.get(name);
      if (held !== undefined) {
        if (held.state !== null) known.tokens.set(name, held.state);
        // A collection that nobody has heard of has no tokens.
      } else if (known.origins.has(place.collection)) missing.set(name, place);
    }
    for (const [name, state] of await lookUpTokens(database, tables, [...missing.values()]))
      known.tokens.set(name, state);
  };

  return {
    async know(blocks) {
      const [known, touched] = [knowNothing(), touchedBy(blocks)];
      await knowObjects(known, touched.objects);
      const wanted = new Map<string, ObjectToken>(touched.tokens);
      for (const token of known.objects.values()) {
        wanted.set(`${token.collection}/${token.id_key}`, token);
        touched.collections.add(token.collection);
      }
      await knowOrigins(known, touched.collections);
      await knowTokens(known, wanted);
      const places = countsTouchedBy(blocks, known);
      const missing = [...places].filter(([key]) => {
        const n = counts.get(key);
        if (n !== undefined) known.counts.set(key, n);
        return n === undefined;
      });
      const unread = missing
        .map(([, place]) => place)
        .filter(({ collection }) => known.origins.has(collection));
      for (const [key, n] of await lookUpCounts(database, tables, unread)) known.counts.set(key, n);
      for (const [name, origin_name] of await lookUpClasses(database, tables, [...touched.names]))
        known.classes.set(name, origin_name);
      return known;
    },
    keep(known) {
      for (const [name, state] of known.tokens) tokens.set(name, { state });
      for (const [object, token] of known.objects) objects.set(object, { token });
      for (const [collection, origin] of known.origins) origins.set(collection, { origin });
      for (const [key, n] of known.counts) counts.set(key, n);
    },
    clear() {
      tokens.clear();
      objects.clear();
      origins.clear();
      counts.clear();
    },
  };
}
