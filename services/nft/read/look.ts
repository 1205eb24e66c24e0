import type { Database } from '../../common/clickhouse/database.js';
import { createLook } from '../../common/look.js';
import { readSeen } from '../../common/writer/head-table.js';
import { readCursor, readHashes } from '../store/cursor.js';
import { headOf, type Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Makes what keeps a head as the tables have it, where another process writes them: one short read. */
export function lookOf(database: Database, tables: Tables, head: Head): () => Promise<void> {
  let [known, found] = [0, 0];
  const look = createLook({
    head,
    read: async () => {
      const seen = await readSeen(database, headOf(tables), async () => ({
        ...(await readCursor(database, tables)),
        details: 0,
      }));
      found = seen.position.details;
      return seen;
    },
    hashes: (from, to) => readHashes(database, tables, from, to),
  });
  return async () => {
    await look();
    // More was learnt of collections and tokens that are shown already.
    if (found !== known) head.learn();
    known = found;
  };
}
