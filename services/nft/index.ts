import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { defaultPage } from '../common/page/fit.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import { createHead, type Head } from './read/head.js';
import { lookOf } from './read/look.js';
import type { Reader } from './read/reader.js';
import { createShownMemory } from './read/shown.js';
import { createNftStore, type NftStore, type StoreOptions } from './store/store.js';
import { type Tables, tablesOf } from './store/tables.js';

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<
  StoreOptions,
  'database' | 'target' | 'onWritten' | 'onDetails' | 'onRecovered' | 'onUnwind' | 'onRepairs'
>;

/** The NFTs in one database: the same service can have two of them side by side. */
export interface NftIndex {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  readonly reader: Reader;
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
  await lookOf(database, index.tables, index.head)();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createNftIndex(database: Database, target: Target, page = defaultPage): NftIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  return {
    database,
    tables,
    head,
    reader: { database, tables, head, shown: createShownMemory(), page },
    openStore: (options, writer = soleWriter(database)) =>
      createNftStore({
        ...options,
        database: writer,
        target,
        onWritten: (cursor) => head.advance(cursor),
        onDetails: () => head.learn(),
        onRecovered: (cursor) => {
          // A write can have succeeded although it seemed to fail, and the other way round.
          const { height, hash } = head.position;
          if (cursor.height !== height || cursor.hash !== hash) head.cutTo(cursor);
        },
        onUnwind: (cursor) => head.cutTo(cursor),
        onRepairs: head.takeRepairs,
      }),
  };
}
