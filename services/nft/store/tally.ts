import type { Database } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/keys.js';
import { createLru } from '../../common/lru.js';
import { type Editions, familyOf, nameIn, type Scope, scopeKey } from './editions.js';
import type { ItemRow } from './items.js';
import type { Tables } from './tables.js';

/** Rows of a list by height, in its edition: those that say that an item is there, and that it is gone. */
export interface Tally {
  present: number;
  gone: number;
}

/**
 * Whether a list should be written anew: what is gone is a third of what is left, or about so
 * where merges have not come by. So few are never worth it: a page reads as many rows anyway.
 */
const isDue = ({ present, gone }: Tally, fewGone: number): boolean => gone > fewGone + present / 4;
export const defaultFewGone = 64;

/** A list to be written anew, with about how many items. */
export interface DueList extends Scope {
  readonly items: number;
}

/** Counts what is gone from lists. */
export interface Tallies {
  /** Counts rows that are written now. @returns the lists to be written anew. */
  add(items: Iterable<ItemRow>, editions: Editions): Promise<DueList[]>;
  /** Begins a list's tally anew. */
  restart(of: Scope, present: number): void;
  /** Forgets everything. */
  clear(): void;
}

/** Tallies of the lists that lost items lately; of the others the table tells when they lose one. */
export function createTallies(
  database: Database,
  tables: Tables,
  { capacity, fewGone }: { readonly capacity: number; readonly fewGone: number },
): Tallies {
  const known = createLru<string, Tally>(capacity);

  const count = async (scopes: ReadonlyMap<string, Scope>): Promise<Map<string, Tally>> => {
    const tallies = new Map<string, Tally>();
    const names = new Set([...scopes.keys()].map((name) => name.slice(name.indexOf('/') + 1)));
    const rows = await inParts(
      [...names],
      (name) => [name],
      (some) =>
        database.rows<{ family: Scope['family']; name: string; n: number; gone: number }>(
          `SELECT replaceOne(toString(list), '_height', '') AS family, scope AS name, count() AS n, countIf(gone) AS gone FROM ${tables.of('items')} WHERE list IN ('collection_height', 'owner_height', 'holding_height') AND scope IN {names:Array(String)} GROUP BY list, scope`,
          { names: some },
          { name: 'nft.tally', priority: 'write' },
        ),
    );
    for (const { family, name, n, gone } of rows)
      tallies.set(`${family}/${name}`, { present: n - gone, gone });
    return tallies;
  };

  return {
    async add(items, editions) {
      const added = new Map<string, Scope & Tally>();
      for (const { list, scope, gone } of items) {
        if (!list.endsWith('_height')) continue;
        const of = { family: familyOf(list), scope };
        const key = scopeKey(of);
        const tally = added.get(key) ?? { ...of, present: 0, gone: 0 };
        added.set(key, tally);
        if (gone) tally.gone += 1;
        else tally.present += 1;
      }
      const missing = new Map<string, Scope>();
      for (const [key, of] of added) {
        const held = known.get(key);
        if (held !== undefined) {
          held.present += of.present;
          held.gone += of.gone;
        } else if (of.gone > 0) missing.set(`${of.family}/${nameIn(editions, of)}`, of);
      }
      const counted = missing.size === 0 ? new Map<string, Tally>() : await count(missing);
      const due: DueList[] = [];
      for (const [name, of] of missing) known.set(scopeKey(of), counted.get(name) ?? { present: 0, gone: 0 });
      for (const [key, { family, scope, gone }] of added) {
        const tally = known.get(key);
        if (gone > 0 && tally !== undefined && isDue(tally, fewGone))
          due.push({ family, scope, items: tally.present });
      }
      return due;
    },
    restart: (of, present) => {
      known.set(scopeKey(of), { present, gone: 0 });
    },
    clear: () => known.clear(),
  };
}
