import type { Database } from '../../common/clickhouse/database.js';
import { createLook, readWithCuts } from '../../common/look.js';
import { readCursor, readHashes } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** What keeps a head as the tables have it, where another process writes them: one look. */
export interface Looks {
  /** Looks at how far the chain is, and whether it was rolled back: a short read. */
  readonly atChain: () => Promise<void>;
  /** Looks at what was learnt from the node, too. */
  readonly atAll: () => Promise<void>;
}

/** Makes the looks for a head. */
export function lookOf(database: Database, tables: Tables, head: Head): Looks {
  const atChain = createLook({
    head,
    read: () =>
      readWithCuts({ database, table: tables.of('cuts'), name: 'nft.cuts' }, () =>
        readCursor(database, tables),
      ),
    hashes: (from, to) => readHashes(database, tables, from, to),
  });
  let version = 0;
  return {
    atChain,
    async atAll() {
      await atChain();
      const learnt = await readDetailsVersion(database, tables);
      if (learnt !== version) head.learn();
      version = learnt;
    },
  };
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
