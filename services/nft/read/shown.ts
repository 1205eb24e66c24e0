import type { LRUCache } from 'lru-cache';
import { createLru } from '../../common/lru.js';
import type { ShownCollection } from '../store/types.js';
import type { Reading } from './reader.js';

/** Collections that were shown last: most pages are about few of them. */
export interface ShownMemory {
  /** What is remembered of a revision of the head; another one empties it. */
  at(revision: number): LRUCache<string, ShownCollection>;
}

/** Memory for 20,000 collections is about 10 MB. */
const remembered = 20_000;

export function createShownMemory(): ShownMemory {
  const known = createLru<string, ShownCollection>(remembered);
  let current = -1;
  return {
    at(revision) {
      if (revision !== current) known.clear();
      current = revision;
      return known;
    },
  };
}

/**
 * The collections among these that are shown, by address. Details are learnt late, so that
 * they are read as they are now; only births above the end are not there yet.
 */
export async function readShown(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownCollection>> {
  const { head, end } = reading;
  const { revision } = head;
  const shown = new Map<string, ShownCollection>();
  const missing: string[] = [];
  for (const collection of collections) {
    const held = reading.shown.at(revision).get(collection);
    if (held === undefined) missing.push(collection);
    else if (held.born_at <= end) shown.set(collection, held);
  }
  if (missing.length === 0) return shown;
  for (const row of await lookUp(reading, missing)) {
    shown.set(row.collection, row);
    if (revision === head.revision) reading.shown.at(revision).set(row.collection, row);
  }
  return shown;
}

async function lookUp(
  { database, tables, end, call }: Reading,
  collections: readonly string[],
): Promise<Iterable<ShownCollection>> {
  const rows = await database.rows<ShownCollection & { version: number; gone: boolean }>(
    `SELECT collection, born_at, creator, name, origin_name, timestamp, at, version, gone FROM ${tables.of('collections')} WHERE collection IN {collections:Array(String)} AND born_at <= {end:UInt64} ORDER BY version`,
    { collections, end },
    { name: 'nft.shown', ...call },
  );
  const shown = new Map<string, ShownCollection>();
  for (const { version: _, gone, ...row } of rows) {
    if (gone) shown.delete(row.collection);
    else shown.set(row.collection, row);
  }
  return shown.values();
}
