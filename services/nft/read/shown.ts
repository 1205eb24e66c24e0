import { LRUCache } from 'lru-cache';
import { inParts } from '../../common/clickhouse/literals.js';
import { newestRowsSql } from '../../common/page/view.js';
import { createLru } from '../../common/util/lru.js';
import type { ShownCollection } from '../store/types.js';
import type { Reading } from './reader.js';

/** How large a collection is that is shown. */
interface ShownSize {
  readonly collection: string;
  /** Bytes of its names: they may be long. */
  readonly size: number;
}

/** Collections that were shown last: most pages are about few of them. */
export interface ShownMemory {
  /** What is remembered of a revision of the head; another one empties it. */
  at(revision: number): {
    readonly shown: LRUCache<string, ShownCollection>;
    readonly sizes: LRUCache<string, ShownSize>;
  };
}

/** Memory for collections, in bytes, and sizes: 50,000 are about 10 MB. */
const [shownBytes, sizesRemembered] = [10 * 1024 * 1024, 50_000];

/** What an entry takes beside its names. */
const entryBytes = 500;

export function createShownMemory(): ShownMemory {
  const shown = new LRUCache<string, ShownCollection>({
    maxSize: shownBytes,
    // A character may take two bytes.
    sizeCalculation: ({ name, origin_name }) => entryBytes + 2 * (name.length + origin_name.length),
  });
  const sizes = createLru<string, ShownSize>(sizesRemembered);
  let current = -1;
  return {
    at(revision) {
      if (revision !== current) {
        shown.clear();
        sizes.clear();
      }
      current = revision;
      return { shown, sizes };
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
    (missing) =>
      lookUp<ShownCollection>(
        reading,
        missing,
        ['born_at', 'creator', 'name', 'origin_name', 'timestamp'],
        'nft.shown',
      ),
  );
}

/** How large those among these collections are that are shown, by address. */
export function readShownSizes(
  reading: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownSize>> {
  return readRemembered(
    reading,
    collections,
    (revision) => reading.shown.at(revision).sizes,
    (missing) =>
      lookUp<ShownSize>(
        reading,
        missing,
        ['length(v.name) + length(v.origin_name) AS size'],
        'nft.shown_sizes',
      ),
  );
}

/** The query for the collections that are shown of those of which `{owner:String}` holds a token, with their places. */
export const shownOfOwnerSql = (tables: Reading['tables']): string =>
  `SELECT collection, born_at
   FROM ${tables.of('shown_collections')} FINAL
   WHERE collection GLOBAL IN (
     SELECT collection FROM ${tables.of('token_counts')} FINAL WHERE account = {owner:String}
   )`;

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

/** The newest row of each collection, where that does not say that it is shown no longer. */
function lookUp<Row>(
  { database, tables, call }: Reading,
  collections: readonly string[],
  columns: readonly string[],
  name: string,
): Promise<Row[]> {
  const sql = newestRowsSql(
    tables.of('shown_collections'),
    ['collection', ...columns],
    ['collection'],
    'collection IN {collections:Array(String)}',
  );
  return inParts(
    collections,
    (collection) => [collection],
    (some) => database.rows<Row>(sql, { collections: some }, { name, ...call }),
  );
}
