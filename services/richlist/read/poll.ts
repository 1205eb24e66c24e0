import type { Database } from '../../common/clickhouse/database.js';
import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import { readHashes, readPosition } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** How often a process of the role `serve` looks at the cursor, in milliseconds. */
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
  while (!signal.aborted) {
    try {
      await lookAtTables(database, tables, head);
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
  const before = head.position;
  const next = await readPosition(database, tables);
  if (next.hash === before.hash && next.last_ord >= before.last_ord) return head.advance(next);
  const [same] =
    before.height === 0 ? [before] : await readHashes(database, tables, before.height, before.height);
  if (same?.hash === before.hash) head.advance(next);
  else head.cutTo(next);
}
