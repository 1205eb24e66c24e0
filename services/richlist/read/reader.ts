import type { Database } from '../../common/clickhouse/database.js';
import type { Head } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';

/** Everything that the list is read with. */
export interface Reader {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /**
   * Where another process writes the tables: takes over how far they are. What was read before
   * is of one chain if no rollback shows then, since the cursor is what a rollback takes first.
   */
  readonly look?: (() => Promise<void>) | undefined;
}
