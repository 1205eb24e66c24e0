import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import { createHead, type Head } from './read/head.js';
import { lookOf } from './read/look.js';
import type { Reader } from './read/reader.js';
import { createRichlistStore, type RichlistStore, type StoreOptions } from './store/store.js';
import { type Tables, tablesOf } from './store/tables.js';

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<
  StoreOptions,
  'database' | 'target' | 'onWritten' | 'onRecovered' | 'onUnwind' | 'onRepairs'
>;

/** The rich list in one database: the same service can have two of them side by side. */
export interface RichlistIndex {
  readonly tables: Tables;
  readonly head: Head;
  readonly reader: Reader;
  /**
   * Opens it for writing; the head then moves with what is written.
   *
   * @param writer another way to the same database, for everything that writing needs.
   */
  openStore(options: WriterOptions, writer?: FencedDatabase): RichlistStore;
}

/** Opens the rich list of a target as far as it is; its tables must have been migrated. */
export async function openRichlistIndex(database: Database, target: Target): Promise<RichlistIndex> {
  const index = createRichlistIndex(database, target);
  await lookOf(database, index.tables, index.head)();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createRichlistIndex(database: Database, target: Target): RichlistIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  return {
    tables,
    head,
    reader: { database, tables, head },
    openStore: (options, writer = soleWriter(database)) =>
      createRichlistStore({
        ...options,
        database: writer,
        target,
        onWritten: (position) => head.advance(position),
        onRecovered: (position) => {
          // A write can have succeeded although it seemed to fail, and the other way round.
          const { height, hash, last_ord } = head.position;
          const isSame =
            position.height === height && position.hash === hash && position.last_ord === last_ord;
          if (!isSame) head.cutTo(position);
        },
        onUnwind: (position) => head.cutTo(position),
        onRepairs: head.takeRepairs,
      }),
  };
}
