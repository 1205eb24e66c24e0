import type { Database } from './clickhouse/database.js';
import type { Cursor } from './consume.js';
import type { Head } from './head.js';
import { createMutex } from './mutex.js';
import { type HeadTable, readHashes, readSeen, type Seen } from './writer/head-table.js';

/** What a process that only serves keeps of tables that another one writes. */
export interface Looker<Position extends Cursor> {
  /** How far it shows the tables, and how that is moved. */
  readonly head: Pick<Head<Position>, 'position' | 'advance' | 'cutTo' | 'takeRepairs'>;
  /** How far the tables are, and how many repairs have begun and ended. */
  readonly read: () => Promise<Seen<Position>>;
  /** The blocks between two heights, inclusive, as the tables have them. */
  readonly hashes: (from: number, to: number) => Promise<readonly Cursor[]>;
}

/**
 * Makes what takes over how far the tables are. A block that is gone or another one means a
 * rollback. One look at a time: of two that cross, the one that read first would end last and
 * take the head back. Those who ask while one is under way share the next.
 */
export function createLook<Position extends Cursor>({
  head,
  ...looker
}: Looker<Position>): () => Promise<void> {
  const exclusive = createMutex();
  let next: Promise<void> | undefined;
  return () => {
    // A mutex never begins at once, so that `next` is set before.
    next ??= exclusive(async () => {
      next = undefined;
      const before = head.position;
      const { position: now, repairs } = await looker.read();
      head.takeRepairs(repairs);
      if (now.hash === before.hash) {
        head.advance(now);
        return;
      }
      const [same] = before.height === 0 ? [before] : await looker.hashes(before.height, before.height);
      if (same?.hash === before.hash) head.advance(now);
      else head.cutTo(now);
    });
    return next;
  };
}

/**
 * Makes what takes over how far the tables of a service are, where another process writes them.
 *
 * @param onSeen told each time where they are.
 */
export function lookOf<Position extends Cursor>(
  database: Database,
  table: HeadTable<Position>,
  head: Looker<Position>['head'],
  onSeen: (position: Position) => void = () => {},
): () => Promise<void> {
  let seen = head.position;
  const look = createLook({
    head,
    async read() {
      const found = await readSeen(database, table);
      seen = found.position;
      return found;
    },
    hashes: (from, to) => readHashes(database, table, from, to),
  });
  return () => look().then(() => onSeen(seen));
}
