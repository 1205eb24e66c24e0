import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Everything that lists are read with. */
export interface Reader {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
}

/** What one call reads with: the same end of the chain in all its statements. */
export interface Reading extends Reader {
  /** Place up to which rows count. */
  readonly end: number;
  readonly call: Call;
}

/** Begins to read, up to where the tables are whole now. */
export const startReading = (reader: Reader, call: Call): Reading => ({
  ...reader,
  end: reader.head.end,
  call,
});
