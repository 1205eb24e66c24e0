import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { lookOf } from '../common/look.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import type { Reader } from './read/reader.js';
import { createHead, type Head } from './store/cursor.js';
import { createRichlistStore, type RichlistStore, type StoreOptions } from './store/store.js';
import { headOf, type Tables, tablesOf } from './store/tables.js';

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<StoreOptions, 'database' | 'target' | 'head'>;

/** The rich list in one database: the same service can have two of them side by side. */
export interface RichlistIndex {
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
  openStore(options: WriterOptions, writer?: FencedDatabase): RichlistStore;
}

/** Opens the rich list of a target as far as it is; its tables must have been migrated. */
export async function openRichlistIndex(database: Database, target: Target): Promise<RichlistIndex> {
  const index = createRichlistIndex(database, target);
  await index.look();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createRichlistIndex(database: Database, target: Target): RichlistIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  return {
    tables,
    head,
    reader: { database, tables, head },
    look: lookOf(database, headOf(tables), head),
    openStore: (options, writer = soleWriter(database)) =>
      createRichlistStore({ ...options, database: writer, target, head }),
  };
}
