import type { Database } from '../../common/clickhouse/database.js';
import { readHashes, readPosition } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Takes over how far the tables are. A block that is gone or another one means a rollback. */
export async function lookAtTables(database: Database, tables: Tables, head: Head): Promise<void> {
  const before = head.position;
  const next = await readPosition(database, tables);
  if (next.hash === before.hash && next.last_ord >= before.last_ord) return head.advance(next);
  const [same] =
    before.height === 0 ? [before] : await readHashes(database, tables, before.height, before.height);
  if (same?.hash === before.hash) head.advance(next);
  else head.cutTo(next);
}
