import { LRUCache } from 'lru-cache';
import { createLru } from '../../common/lru.js';
import type { ShownCollection } from '../store/types.js';
import type { Reading } from './reader.js';

/** A collection that is shown, without its names: they may be long, and an account may hold many collections. */
export interface ShownPlace {
  readonly collection: string;
  readonly born_at: number;
  /** Bytes of its names. */
  readonly size: number;
}

/** Collections that were shown last: most pages are about few of them. */
export interface ShownMemory {
  /** What is remembered of a revision of the head; another one empties it. */
  at(revision: number): {
    readonly shown: LRUCache<string, ShownCollection>;
    readonly places: LRUCache<string, ShownPlace>;
  };
}

/** Memory for collections, in bytes, and places: 50,000 are about 10 MB. */
const [shownBytes, placesRemembered] = [10 * 1024 * 1024, 50_000];

/** What an entry takes beside its names. */
const entryBytes = 500;

export function createShownMemory(): ShownMemory {
  const shown = new LRUCache<string, ShownCollection>({
    maxSize: shownBytes,
    // A character may take two bytes.
    sizeCalculation: ({ name, origin_name }) => entryBytes + 2 * (name.length + origin_name.length),
  });
  const places = createLru<string, ShownPlace>(placesRemembered);
  let current = -1;
  return {
    at(revision) {
      if (revision !== current) {
        shown.clear();
        places.clear();
      }
      current = revision;
      return { shown, places };
    },
  };
}

/**
 * The collections among these that are shown, by address. Details are learnt late, so that
 * they are read as they are now; only births above the end are not there yet.
 */
export function readShown(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownCollection>> {
  return readRemembered(
    reading,
    collections,
    (revision) => reading.shown.at(revision).shown,
    'creator, name, origin_name, timestamp, at',
    'nft.shown',
  );
}

/** The same without names. */
export function readShownPlaces(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownPlace>> {
  return readRemembered(
    reading,
    collections,
    (revision) => reading.shown.at(revision).places,
    'length(c.name) + length(c.origin_name) AS size',
    'nft.shown_places',
  );
}

async function readRemembered<Row extends { readonly collection: string; readonly born_at: number }>(
  reading: Reading,
  collections: readonly string[],
  memory: (revision: number) => LRUCache<string, Row>,
  columns: string,
  name: string,
): Promise<Map<string, Row>> {
  const { head, end } = reading;
  const { revision } = head;
  const shown = new Map<string, Row>();
  const missing: string[] = [];
  for (const collection of collections) {
    const held = memory(revision).get(collection);
    if (held === undefined) missing.push(collection);
    else if (held.born_at <= end) shown.set(collection, held);
  }
  if (missing.length === 0) return shown;
  for (const row of await lookUp<Row>(reading, missing, columns, name)) {
    shown.set(row.collection, row);
    if (revision === head.revision) memory(revision).set(row.collection, row);
  }
  return shown;
}

async function lookUp<Row extends { readonly collection: string }>(
  { database, tables, end, call }: Reading,
  collections: readonly string[],
  columns: string,
  name: string,
): Promise<Iterable<Row>> {
  const rows = await database.rows<Row & { version: number; gone: boolean }>(
    `SELECT collection, born_at, ${columns}, version, gone FROM ${tables.of('collections')} AS c WHERE collection IN {collections:Array(String)} AND born_at <= {end:UInt64} ORDER BY version`,
    { collections, end },
    { name, ...call },
  );
  const shown = new Map<string, Row>();
  for (const { version: _, gone, ...row } of rows) {
    if (gone) shown.delete(row.collection);
    else shown.set(row.collection, row as unknown as Row);
  }
  return shown.values();
}
