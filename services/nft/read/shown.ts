import { LRUCache } from 'lru-cache';
import type { Params } from '../../common/clickhouse/database.js';
import { charactersAtOnce, charactersOf, inParts } from '../../common/clickhouse/keys.js';
import { createLru } from '../../common/lru.js';
import { newestRowsSql } from '../../common/page/view.js';
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

/** The collections among these that are shown, by address. */
export function readShown(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownCollection>> {
  return readRemembered(
    reading,
    collections,
    (revision) => reading.shown.at(revision).shown,
    (missing) => lookUp<ShownCollection>(reading, missing, shownColumns, 'nft.shown'),
  );
}

/** What is read of a collection that is described. */
const shownColumns = ['creator', 'name', 'origin_name', 'timestamp'];

/** What places are read by, and the name of the statement. */
const [placeColumns, placesName] = [['length(v.name) + length(v.origin_name) AS size'], 'nft.shown_places'];

/** The same without names. */
export function readShownPlaces(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownPlace>> {
  return readRemembered(
    reading,
    collections,
    (revision) => reading.shown.at(revision).places,
    (missing) => lookUp<ShownPlace>(reading, missing, placeColumns, placesName),
  );
}

/**
 * The same of the collections that somebody holds. Anybody can send anybody tokens of any number of collections: of many
 * the statement finds itself which they are, so that its parameters do not grow with them.
 *
 * @param held the collections, as `readHoldings` gives them for the owner.
 */
export async function readPlacesOf(
  reading: Reading,
  held: readonly string[],
  owner: string,
): Promise<Map<string, ShownPlace>> {
  if (!areMany(held)) return readShownPlaces(reading, held);
  const ofOwner = `collection GLOBAL IN (SELECT collection FROM ${reading.tables.of('token_counts')} WHERE account = {owner:String})`;
  const isHeld = new Set(held);
  const rows = await select<ShownPlace>(reading, ofOwner, { owner }, placeColumns, placesName);
  return new Map(rows.filter(({ collection }) => isHeld.has(collection)).map((row) => [row.collection, row]));
}

/** Whether collections are more than one parameter takes. */
export const areMany = (collections: readonly string[]): boolean =>
  charactersOf(collections) > charactersAtOnce;

async function readRemembered<Row extends { readonly collection: string }>(
  reading: Reading,
  collections: readonly string[],
  memory: (revision: number) => LRUCache<string, Row>,
  read: (missing: readonly string[]) => Promise<readonly Row[]>,
): Promise<Map<string, Row>> {
  const { head } = reading;
  const { revision } = head;
  const shown = new Map<string, Row>();
  const missing: string[] = [];
  for (const collection of collections) {
    const held = memory(revision).get(collection);
    if (held === undefined) missing.push(collection);
    else shown.set(collection, held);
  }
  if (missing.length === 0) return shown;
  for (const row of await read(missing)) {
    shown.set(row.collection, row);
    if (revision === head.revision) memory(revision).set(row.collection, row);
  }
  return shown;
}

function lookUp<Row>(
  reading: Reading,
  collections: readonly string[],
  columns: readonly string[],
  name: string,
): Promise<Row[]> {
  return inParts(
    collections,
    (collection) => [collection],
    (some) =>
      select<Row>(reading, 'collection IN {collections:Array(String)}', { collections: some }, columns, name),
  );
}

/** The newest row of each collection, where that does not say that it is shown no longer. */
function select<Row>(
  { database, tables, call }: Reading,
  which: string,
  params: Params,
  columns: readonly string[],
  name: string,
): Promise<Row[]> {
  return database.rows<Row>(
    newestRowsSql(
      tables.of('shown_collections'),
      ['collection', 'born_at', ...columns],
      ['collection'],
      which,
    ),
    params,
    { name, ...call },
  );
}
