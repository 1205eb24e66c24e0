import type { Call, Database } from '../../common/clickhouse/database.js';
import type { PageBound } from '../../common/page/fit.js';
import type { Head } from '../store/cursor.js';
import { endOf } from '../store/place.js';
import type { Tables } from '../store/tables.js';
import type { ShownMemory } from './shown.js';

/** Everything that lists are read with. */
export interface Reader {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  readonly shown: ShownMemory;
  readonly page: PageBound;
  /**
   * Where another process writes the tables: takes over how far they are. What was read before
   * is of one chain if no rollback shows then, since the cursor is what a rollback takes first.
   */
  readonly look?: (() => Promise<void>) | undefined;
}

/** What one call reads with: facts up to the same end of the chain in all its statements, and views as they are. */
export interface Reading extends Reader {
  /** Position up to which facts count. */
  readonly end: number;
  readonly call: Call;
}

/** Begins to read, up to where the tables are whole now. */
export const startReading = (reader: Reader, call: Call): Reading => ({
  ...reader,
  end: endOf(reader.head.position.height),
  call,
});
