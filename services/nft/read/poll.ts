import type { Database } from '../../common/clickhouse/database.js';
import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import { readCursor, readHashes } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** How often a process of the role `serve` looks at the tables, in milliseconds. */
const look_ms = 250;

/** Keeps a head as the tables have it, where another process writes them; until the signal. */
export async function followTables(
  database: Database,
  tables: Tables,
  head: Head,
  log: Log,
  signal: AbortSignal,
  onAnswer: (reason: string) => void = () => {},
): Promise<void> {
  let version = 0;
  while (!signal.aborted) {
    try {
      await lookAtTables(database, tables, head);
      const learnt = await readDetailsVersion(database, tables);
      if (learnt !== version) head.learn();
      version = learnt;
      onAnswer('');
    } catch (error) {
      onAnswer(`the database does not answer: ${messageOf(error)}`);
      log.warn({ err: error }, `the tables do not answer: ${messageOf(error)}`);
    }
    await sleep(look_ms, signal);
  }
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

/** Every write of details ends with a row of `asked`. */
async function readDetailsVersion(database: Database, tables: Tables): Promise<number> {
  const [row] = await database.rows<{ version: number }>(
    `SELECT max(a.version) AS version FROM ${tables.of('asked')} AS a`,
    {},
    { name: 'nft.details_version' },
  );
  return row?.version ?? 0;
}
