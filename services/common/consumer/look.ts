import { status } from '@grpc/grpc-js';
import type { Database } from '../clickhouse/database.js';
import { RpcError } from '../runtime/errors.js';
import { sleep } from '../runtime/lifecycle.js';
import { createMutex } from '../util/concurrency.js';
import type { Head } from '../writer/head.js';
import { type HeadTable, isRepairing, readHashes, readSeen, type Seen } from '../writer/head-table.js';
import type { Cursor } from './consume.js';

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

/** What answers are read with. */
export interface OneChain {
  /** Where another process writes the tables: takes over how far they are. */
  readonly look?: (() => Promise<void>) | undefined;
  /** How far calls may read. */
  readonly head: Pick<Head<unknown>, 'repairs' | 'rollbacks'>;
  /** Whether answers are exact during a repair, too. */
  readonly isWholeDuringRepair?: boolean;
}

/** What the lists of a service are read with. */
export interface TableReader<Tables, Position> extends OneChain {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head<Position>;
  /**
   * Where another process writes the tables: takes over how far they are. What was read before
   * is of one chain if no rollback shows then, since the cursor is what a rollback takes first.
   */
  readonly look?: (() => Promise<void>) | undefined;
}

const isWrongNow = ({ head, isWholeDuringRepair }: OneChain): boolean =>
  isWholeDuringRepair !== true && isRepairing(head.repairs);

/** How often an answer is read before the caller is asked to come again. */
const attempts = 5;

/** How long it waits until tables are whole, and how often it looks meanwhile, in milliseconds. */
const [patience, pause] = [1_000, 50];

/** Errors that say nothing of the chain: a mistake in the request, or a caller who has left. */
const isAboutRequest = (error: unknown): boolean =>
  error instanceof RpcError && (error.code === status.INVALID_ARGUMENT || error.code === status.CANCELLED);

/**
 * Begins to read once the views are whole; a rollback takes a moment at the tip of a chain.
 *
 * @param begin begins to read at the head as it is then.
 * @throws RpcError UNAVAILABLE when that takes longer than calls should wait.
 */
export async function whenWhole<Reading extends OneChain>(begin: () => Reading): Promise<Reading> {
  for (let waited = 0; ; waited += pause) {
    const reading = begin();
    if (!isWrongNow(reading)) return reading;
    if (waited >= patience)
      throw new RpcError(
        status.UNAVAILABLE,
        'the index is recovering from a rollback or a restart, or takes in a very large block: retry in a few seconds',
      );
    await sleep(pause);
    await reading.look?.();
  }
}

/**
 * Reads an answer that takes several statements. A rollback between two of them would make it
 * one of two chains, and during a repair views may be wrong: then it is read again. The head
 * changes when a repair begins and when it ends, so an answer is right if the head is the same
 * after it and no repair is under way; where another process writes, that takes a look.
 *
 * @param begin begins to read at the head as it is then.
 * @throws RpcError UNAVAILABLE when the chain is rolled back again and again, or a repair takes long.
 */
export async function ofOneChain<Reading extends OneChain, T>(
  begin: () => Reading,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const reading = await whenWhole(begin);
    const before = reading.head.rollbacks;
    const outcome = await read(reading).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    if ('error' in outcome && isAboutRequest(outcome.error)) throw outcome.error;
    await reading.look?.();
    if (reading.head.rollbacks !== before || isWrongNow(reading)) continue;
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }
  throw new RpcError(status.UNAVAILABLE, 'the chain went on or back while the call was answered: ask again');
}
