import type { Database } from '../../common/clickhouse/database.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Everything that the list is read with. */
export interface Reader {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
}
