import type { Call, InsertRows } from '../clickhouse/database.js';
import type { BinaryRows } from '../clickhouse/formats.js';
import type { Target } from '../clickhouse/migrate.js';
import type { Cursor } from '../consumer/consume.js';
import type { FaultPoint } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { atMost, chunks } from '../util/chunk.js';
import { createMutex, type Mutex } from '../util/concurrency.js';
import { claimChain } from './claim.js';
import type { FencedDatabase } from './fence.js';
import type { Head } from './head.js';
import { type HeadRow, readHashes } from './head-table.js';
import { createWriterHead, headBefore, type RepairOptions, type ViewRows } from './repair.js';
import type { ComparedPart } from './views.js';

/** What every store of a service is given. */
export interface StoreEnvironment<Position extends Cursor> {
  readonly database: FencedDatabase;
  readonly target: Target;
  /** How far calls may read: it moves with what is written. */
  readonly head: Head<Position>;
  readonly log: Log;
  /** Called between any two writes. */
  readonly fault?: FaultPoint | undefined;
  /** Told how far it is while all views are made from facts; '' once they are there. */
  readonly onRebuild?: ((progress: string) => void) | undefined;
}

/** What the tables of a service are written with. */
export interface TableWriterOptions<Position extends Cursor, Name extends string>
  extends Omit<RepairOptions<Position, Name>, 'onRepairs'> {
  /** What the tables hold, with a verb: `the txs are`. */
  readonly what: string;
  /** The position of empty tables. */
  readonly nothing: Position;
  /** How far calls of this process may read: it moves with what is written. */
  readonly shown: Head<Position>;
  /** Where tables are that have no head yet. Default: where those of an earlier version are. */
  readonly find?: (
    read: (first?: () => Promise<HeadRow<Position>>) => Promise<HeadRow<Position>>,
  ) => Promise<Position>;
  /** Forgets what memory knows of the tables, before they become what they are at a position. */
  readonly forget: (to: Position) => Promise<void> | void;
  /** Reads what memory has to know of tables that are at a position. */
  readonly load?: (to: Position) => Promise<void>;
  /** Where tables end that are lowered to a position because of a height. Default: there. */
  readonly lowestFor?: (to: Position, height: number) => Position;
}

/** What everybody may do with the tables of a service that this process writes. */
export interface TableStore<Position extends Cursor> {
  /** Ties the tables to a chain. @throws UserError when they hold another one. */
  claim(chain_id: string, vm_type: string): Promise<void>;
  /** Removes what a crash left above the position, and says where it is. */
  recover(): Promise<Position>;
  /** Removes every block above a height; 0 removes all. */
  unwind(height: number): Promise<void>;
  /** Runs something while nothing is written. */
  readonly hold: Mutex;
  /** See `WriterHead`; it may go on while the tables are written, and every write that waits goes first. */
  compareViews(call?: Call): AsyncGenerator<ComparedPart, void, undefined>;
  /** The blocks between two heights, inclusive, ascending. */
  hashes(from: number, to: number): Promise<Cursor[]>;
  /** How far the tables are, as this process last left them. */
  readonly position: Position;
  /** Changes with every repair of the tables. */
  readonly revision: number;
}

/** The tables of a service as their one writer changes them; see `createTableWriter`. */
export interface TableWriter<Position extends Cursor, Name extends string> {
  /** What is the same in every service. */
  readonly store: TableStore<Position>;
  /** One after the other. */
  readonly exclusive: Mutex;
  /** Whether nothing has failed since the last repair; to be asked in a turn of `exclusive`. */
  readonly isClean: boolean;
  /** Runs a write, in a turn of `exclusive`; whatever stops it, nothing is written again before `recover`. */
  writing(work: () => Promise<void>): Promise<void>;
  /** Recovers, in a turn of `exclusive`, if a write has failed and nobody has done so yet. */
  mend(): Promise<void>;
  /** Inserts rows, each a JSON object, in as many statements as they need. */
  insert(name: Name, lines: Iterable<string>): Promise<void>;
  /** Inserts rows that are bytes, a statement for each of their parts. @param columns in the order of the fields. */
  insertBinary(name: Name, rows: BinaryRows, columns: string): Promise<void>;
  /** See `WriterHead`. */
  writeViews(views: readonly ViewRows<Name>[], isAll?: boolean): Promise<void>;
  /** Says that everything up to a position is written. */
  advance(position: Position): Promise<void>;
}

/** Characters and lines of one insert: large ones are cheaper by the row, but hold up those who read. */
const [characters, lineCount] = [3 * 1024 * 1024, 50_000];

/**
 * Makes the one writer of a service's tables. Every write leaves them, whatever it is interrupted by, in a state that
 * `recover` turns into one that an undisturbed run could have left.
 */
export function createTableWriter<Position extends Cursor, Name extends string>(
  options: TableWriterOptions<Position, Name>,
): TableWriter<Position, Name> {
  const { database, tables, head: table, shown, fault, log } = options;
  const { name } = table;
  const exclusive = createMutex();
  const head = createWriterHead({ ...options, onRepairs: shown.takeRepairs });
  let position = options.nothing;
  let revision = 0;
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;
  let hasFailed = false;

  /** Where the tables are, after whatever happened to them. */
  const find = async (): Promise<Position> => {
    const read = (first = () => headBefore(database, table)) => head.find(first);
    return options.find === undefined ? (await read()).position : options.find(read);
  };

  /** Makes the tables what they are at a position. */
  const repair = async (to: Position, onLowered?: () => void): Promise<number> => {
    isClean = false;
    revision += 1;
    await options.forget(to);
    const removed = await head.repair(to, onLowered);
    await options.load?.(to);
    await fault('removed');
    position = to;
    // Who has begun to read meanwhile has seen tables that were half repaired.
    revision += 1;
    isClean = true;
    hasFailed = false;
    return removed;
  };

  const recover = async (): Promise<Position> => {
    const found = await find();
    const removed = await repair(found);
    shown.takeFound(found);
    if (removed > 0) log.warn({ rows: removed, height: found.height }, 'removed what a crash had left');
    return found;
  };

  const insertRows = async (into: Name, table: string, rows: InsertRows): Promise<void> => {
    await fault(`write ${into}`);
    await database.insert(table, rows, { name: `${name}.write_${into}` });
  };

  return {
    exclusive,
    get isClean() {
      return isClean;
    },
    async writing(work) {
      if (!isClean) throw new Error('the tables must be recovered before they are written again');
      isClean = false;
      hasFailed = true;
      await work();
      isClean = true;
      hasFailed = false;
    },
    async mend() {
      if (hasFailed) await recover();
    },
    async insert(into, lines) {
      for (const some of chunks(lines, { most: characters, of: ({ length }) => length }, atMost(lineCount)))
        await insertRows(into, tables.of(into), some.join('\n'));
    },
    async insertBinary(into, rows, columns) {
      for (const part of rows.parts()) await insertRows(into, `${tables.of(into)} (${columns})`, part);
    },
    writeViews: head.writeViews,
    async advance(next) {
      await head.advance(next);
      position = next;
    },
    store: {
      claim: (chain_id, vm_type) =>
        exclusive(() =>
          claimChain(
            { database, table: table.chain, what: options.what, name: `${name}.claim` },
            chain_id,
            vm_type,
          ),
        ),
      recover: () => exclusive(recover),
      unwind: (height) =>
        exclusive(async () => {
          const newest = await find();
          const at =
            height >= newest.height
              ? newest
              : await table.positionAt(database, height, { priority: 'write' }, newest);
          const to = options.lowestFor?.(at, height) ?? at;
          await repair(to, () => shown.cutTo(to));
        }),
      hold: exclusive,
      compareViews: (call = {}) =>
        head.compareViews({
          ...call,
          hold: (work) => exclusive(work, { isWanted: call.isWanted, isPatient: true }),
        }),
      hashes: (from, to) => readHashes(database, table, from, to),
      get position() {
        return position;
      },
      get revision() {
        return revision;
      },
    },
  };
}
