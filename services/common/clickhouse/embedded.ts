import { accessSync, constants, mkdirSync, rmSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseError } from '@clickhouse/client';
import type { ChdbResult, Session } from 'chdb';
import { messageOf, UserError } from '../runtime/errors.js';
import {
  asKnownError,
  type Database,
  formatOf,
  type Params,
  type Priority,
  parseLines,
  QueryTooLarge,
  type StatementOptions,
  secondsLeft,
  stoppingAfter,
  withinMemory,
} from './database.js';
import { endDespiteStatements, isFolderLocked, restoreFatalSignals } from './engine-files.js';
import { type Column, insertStatement, rememberColumns } from './insert.js';
import { quoted, withLiterals } from './literals.js';
import { createTurns, type Turns } from './turns.js';

/**
 * How many sessions each kind of statement has. A session runs a statement at a time, beside those of the others, so a read
 * waits for no insert. More than there are processors, since a statement also waits for the disk.
 */
const sessionsOf: Readonly<Record<Priority, number>> = {
  read: Math.min(8, Math.max(3, availableParallelism())),
  write: 2,
  background: 1,
};

/**
 * Memory that every statement for a call may take at the same time as others. One that takes more is run again when no other
 * such statement runs: together they take little more than one may.
 */
const ordinaryMemory = 64 * 1024 * 1024;

/** Settings of every session: constant, so it does no harm that they stay. Parameters are literals: statements may be long. */
const sessionSettings = `SET max_query_size = 1000000000, output_format_json_quote_64bit_integers = 0, async_insert = 0, insert_deduplicate = 0,
  mutations_sync = 2, log_queries = 0, max_threads = 1, max_insert_threads = 1, input_format_parallel_parsing = 0,
  output_format_parallel_formatting = 0`;

/**
 * Opens the embedded engine (npm chdb) on a folder. One process may have a folder open.
 *
 * @throws UserError when another process has it, or when the engine is not installed.
 */
export async function openEmbedded(folder: string): Promise<Database> {
  // First, or whoever runs the image without a server would be told of a folder that does not help.
  const engine = await load();
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw new UserError(`the folder ${folder} cannot be written: ${messageOf(cause)}`, { cause });
  }
  if (isFolderLocked(folder)) throw inUse(folder);
  const pools = openPools(engine, folder);
  const inserts = resolve(folder, 'inserts');
  // What a kill has left is of no use.
  rmSync(inserts, { recursive: true, force: true });
  mkdirSync(inserts);
  let inserted = 0;
  let closed = false;
  let running = 0;
  const large = createTurns(1);
  const forget = endDespiteStatements(() => running > 0);

  /** Runs a statement in its turn and gives what it printed. */
  const runWithin = (
    memory_bytes: number | undefined,
    sql: string,
    output: string,
    options: StatementOptions,
  ): Promise<Buffer> => {
    const { turns, free } = pools[options.priority ?? 'read'];
    return turns.take(options, async () => {
      if (closed) throw new Error('the database is closed');
      options.onTurn?.();
      const seconds = secondsLeft(options.deadline, options.name);
      const settings = {
        ...(seconds === undefined ? {} : { max_execution_time: seconds.toFixed(3) }),
        ...withinMemory(memory_bytes),
        ...stoppingAfter(options.stop_after_bytes),
      };
      const list = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
      const limit = list.length === 0 ? '' : ` SETTINGS ${list.join(', ')}`;
      const session = free.pop() as Session;
      running += 1;
      try {
        return bytesOf(await session.queryAsync(`${sql}${limit}${output}`));
      } catch (error) {
        await dropLeftovers(session);
        throw asKnownError(parseError(messageOf(error)), options.name);
      } finally {
        running -= 1;
        free.push(session);
      }
    });
  };

  /** Runs a statement, which takes memory with others or alone. */
  const run = async (
    sql: string,
    format: string,
    params: Params,
    options: StatementOptions,
  ): Promise<Buffer> => {
    const [text, output] = [withLiterals(sql, params), format === '' ? '' : ` FORMAT ${format}`];
    const { memory_bytes } = options;
    if (memory_bytes === undefined || memory_bytes <= ordinaryMemory)
      return runWithin(memory_bytes, text, output, options);
    try {
      return await runWithin(ordinaryMemory, text, output, options);
    } catch (error) {
      if (!(error instanceof QueryTooLarge)) throw error;
      return large.take(options, () => runWithin(memory_bytes, text, output, options));
    }
  };

  const rows = async <T>(sql: string, params: Params, options: StatementOptions): Promise<T[]> =>
    parseLines<T>(await run(sql, 'JSONEachRow', params, options));
  const describe = rememberColumns((table) =>
    rows<Column>(`DESCRIBE TABLE ${table}`, {}, { name: 'describe', priority: 'write' }),
  );

  return {
    isExclusive: true,
    async command(sql, params, options) {
      await run(sql, '', params, options);
    },
    rows,
    bytes: run,
    // From a file: rows within the statement end at the first blank line, and what follows would run as a statement.
    async insert(table, rows, options) {
      if (rows.length === 0) return;
      const file = join(inserts, String(inserted++));
      try {
        await writeFile(file, rows);
        const from = (structure: string) => `file(${quoted(file)}, '${formatOf(rows)}', ${structure})`;
        const { sql, params } = await insertStatement(describe, table, rows, from, options.guard);
        await run(sql, '', params, {
          ...options,
          priority: options.priority ?? 'write',
          deadline: undefined,
        });
      } finally {
        await unlink(file).catch(() => {});
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      // The engine crashes the process when it is closed under a running statement.
      await Promise.all(Object.values(pools).map(({ turns }) => turns.idle()));
      for (const { free } of Object.values(pools)) for (const session of free) session.close();
      forget();
    },
  };
}

type Engine = typeof import('chdb');

/** The engine is optional, and not in the image. */
function load(): Promise<Engine> {
  return import('chdb').catch((cause: unknown) => {
    throw new UserError(
      'the embedded ClickHouse (npm package chdb) is not installed here: set CLICKHOUSE_URL to a server',
      { cause },
    );
  });
}

const inUse = (folder: string, cause?: unknown): UserError =>
  new UserError(
    `the embedded database in ${folder} cannot be opened, most likely because another process has it open: give this one a DATA_DIR of its own, or set CLICKHOUSE_URL`,
    { cause },
  );

/** Sessions for one kind of statement. */
interface Pool {
  /** As many at a time as there are sessions. */
  readonly turns: Turns;
  /** Sessions without a statement. */
  readonly free: Session[];
}

function openPools(engine: Engine, folder: string): Record<Priority, Pool> {
  const open = (count: number): Pool => ({
    turns: createTurns(count),
    free: Array.from({ length: count }, () => connect(engine, folder)),
  });
  return {
    read: open(sessionsOf.read),
    write: open(sessionsOf.write),
    background: open(sessionsOf.background),
  };
}

function connect(engine: Engine, folder: string): Session {
  try {
    const session = new engine.Session(folder);
    session.query(sessionSettings);
    return session;
  } catch (error) {
    // The engine prints the reason to standard error and keeps it from the error.
    if (/failed to create connection|lock file|Code: 76/i.test(String(error))) {
      throw inUse(folder, error);
    }
    throw error;
  } finally {
    restoreFatalSignals();
  }
}

/** What a statement has printed. */
function bytesOf(result: ChdbResult): Buffer {
  const bytes = result.bytes();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * A statement that fails half-way leaves what it had printed in the engine's buffer, and
 * the next answer of its session begins with it (seen with chdb 3.4.0 after a timeout). Ask
 * for a known answer until it comes back clean, before anybody else has the session.
 */
async function dropLeftovers(session: Session): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      if (bytesOf(await session.queryAsync(`SELECT 'clean' FORMAT TSVRaw`)).toString() === 'clean\n') return;
    } catch {
      // asked again
    }
  }
  throw new Error('the embedded ClickHouse does not recover from a failed statement');
}
