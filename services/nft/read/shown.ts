import type { LRUCache } from 'lru-cache';
import type { Params } from '../../common/clickhouse/database.js';
import { charactersAtOnce, charactersOf, inParts } from '../../common/clickhouse/keys.js';
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

/**
 * Those that are shown of the collections that somebody holds. Anybody can send anybody tokens of any number of
 * collections: of many the statement finds itself which they are, so that its parameters do not grow with them.
 *
 * @param held the collections, as `readHoldings` gives them for the owner.
 * @param owner the name that the account has in its edition, as `ownerIn` gives it.
 */
export async function readShownOf(
  reading: Reading,
  held: readonly string[],
  owner: string,
): Promise<Map<string, ShownCollection>> {
  if (!areMany(held)) return readShown(reading, held);
  const ofOwner = `collection GLOBAL IN (SELECT collection FROM ${reading.tables.of('counts')} WHERE owner = {owner:String})`;
  const isHeld = new Set(held);
  const rows = settle(await select(reading, ofOwner, { owner }));
  return new Map(
    [...rows].filter(({ collection }) => isHeld.has(collection)).map((row) => [row.collection, row]),
  );
}

/** Whether collections are more than one parameter takes. */
export const areMany = (collections: readonly string[]): boolean =>
  charactersOf(collections) > charactersAtOnce;

async function lookUp(reading: Reading, collections: readonly string[]): Promise<Iterable<ShownCollection>> {
  const rows = await inParts(
    collections,
    (collection) => [collection],
    (some) => select(reading, 'collection IN {collections:Array(String)}', { collections: some }),
  );
  return settle(rows);
}

type Row = ShownCollection & { readonly version: number; readonly gone: boolean };

function select({ database, tables, end, call }: Reading, which: string, params: Params): Promise<Row[]> {
  return database.rows<Row>(
    `SELECT collection, born_at, creator, name, origin_name, timestamp, at, version, gone FROM ${tables.of('collections')} WHERE ${which} AND born_at <= {end:UInt64} ORDER BY version`,
    { ...params, end },
    { name: 'nft.shown', ...call },
  );
}

/** The newest row of each collection, where that does not say that it is gone. */
function settle(rows: readonly Row[]): Iterable<ShownCollection> {
  const shown = new Map<string, ShownCollection>();
  for (const { version: _, gone, ...row } of rows) {
    if (gone) shown.delete(row.collection);
    else shown.set(row.collection, row);
  }
  return shown.values();
}
