import type { Database } from '../../common/clickhouse/database.js';
import { readCursor, readHashes } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Makes what keeps a head as the tables have it, where another process writes them: one look. */
export function createLook(database: Database, tables: Tables, head: Head): () => Promise<void> {
  let version = 0;
  return async () => {
    await lookAtTables(database, tables, head);
    const learnt = await readDetailsVersion(database, tables);
    if (learnt !== version) head.learn();
    version = learnt;
  };
}

/** Takes over how far the tables are. A block that is gone or another one means a rollback. */
export async function lookAtTables(database: Database, tables: Tables, head: Head): Promise<void> {
  const before = head.cursor;
  const next = await readCursor(database, tables);
  if (next.hash === before.hash) return;
  const [same] =
    before.height === 0 ? [before] : await readHashes(database, tables, before.height, before.height);
  if (same?.hash === before.hash) head.advance(next);
  else head.cutTo(next);
}

/** Every write of details ends with a row of `asked`; on Move blocks name collections too. */
async function readDetailsVersion(database: Database, tables: Tables): Promise<number> {
  const [row] = await database.rows<{ version: number }>(
    `SELECT max(v) AS version FROM (SELECT max(a.version) AS v FROM ${tables.of('asked')} AS a UNION ALL SELECT max(c.version) AS v FROM ${tables.of('collections')} AS c)`,
    {},
    { name: 'nft.details_version' },
  );
  return row?.version ?? 0;
}
