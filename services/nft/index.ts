import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { lookOf } from '../common/look.js';
import { defaultPage } from '../common/page/fit.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import type { Reader } from './read/reader.js';
import { createShownMemory } from './read/shown.js';
import { createHead, type Head } from './store/cursor.js';
import { createNftStore, type NftStore, type StoreOptions } from './store/store.js';
import { headOf, type Tables, tablesOf } from './store/tables.js';

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<StoreOptions, 'database' | 'target' | 'head'>;

/** The NFTs in one database: the same service can have two of them side by side. */
export interface NftIndex {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  readonly reader: Reader;
  /** Takes over how far another process has written it. */
  readonly look: () => Promise<void>;
  /**
   * Opens it for writing; the head then moves with what is written.
   *
   * @param writer another way to the same database, for everything that writing needs.
   */
  openStore(options: WriterOptions, writer?: FencedDatabase): NftStore;
}

/** Opens the NFTs of a target as far as they are; its tables must have been migrated. */
export async function openNftIndex(database: Database, target: Target): Promise<NftIndex> {
  const index = createNftIndex(database, target);
  await index.look();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createNftIndex(database: Database, target: Target, page = defaultPage): NftIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  let known = 0;
  return {
    database,
    tables,
    head,
    reader: { database, tables, head, shown: createShownMemory(), page },
    look: lookOf(database, headOf(tables), head, ({ details }) => {
      // More was learnt of collections and tokens that are shown already.
      if (details !== known) head.learn();
      known = details;
    }),
    openStore: (options, writer = soleWriter(database)) =>
      createNftStore({ ...options, database: writer, target, head }),
  };
}
