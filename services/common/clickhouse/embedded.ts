import { accessSync, constants, mkdirSync, rmSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { messageOf, UserError } from '../errors.js';
import {
  asKnownError,
  type Database,
  type Params,
  parseLines,
  readAll,
  type StatementOptions,
  secondsLeft,
  stoppingAfter,
  withinMemory,
} from './database.js';
import { endDespiteStatements, restoreFatalSignals } from './engine-exit.js';
import { isFolderLocked } from './folder-lock.js';
import { type Column, firstLineOf, insertStatement, quoted, rememberColumns } from './insert.js';
import { createTurns } from './turns.js';

/** Settings of the whole session: constant, so it does no harm that they stay. */
const sessionSettings = `SET output_format_json_quote_64bit_integers = 0, async_insert = 0, insert_deduplicate = 0,
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
  const client = await connect(engine, folder);
  const turns = createTurns();
  const inserts = resolve(folder, 'inserts');
  // What a kill has left is of no use.
  rmSync(inserts, { recursive: true, force: true });
  mkdirSync(inserts);
  let inserted = 0;
  let closed = false;
  let isBusy = false;
  const forget = endDespiteStatements(() => isBusy);

  /** Runs a statement in its turn and gives what it printed. */
  const run = (sql: string, format: string, params: Params, options: StatementOptions): Promise<Buffer> =>
    turns.take(options, async () => {
      if (closed) throw new Error('the database is closed');
      options.onTurn?.();
      const seconds = secondsLeft(options.deadline, options.name);
      // Written into the SQL: settings given to the client would stay on the session.
      const settings = {
        ...(seconds === undefined ? {} : { max_execution_time: seconds.toFixed(3) }),
        ...withinMemory(options.memory_bytes),
        ...stoppingAfter(options.stop_after_bytes),
      };
      const list = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
      const limit = list.length === 0 ? '' : ` SETTINGS ${list.join(', ')}`;
      const output = format === '' ? '' : ` FORMAT ${format}`;
      isBusy = true;
      try {
        const answer = await client.exec({ query: `${sql}${limit}${output}`, query_params: { ...params } });
        return await readAll(answer.stream);
      } catch (error) {
        await dropLeftovers(client);
        throw asKnownError(error, options.name);
      } finally {
        isBusy = false;
      }
    });

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
    async insert(table, lines, options, format = 'JSONEachRow') {
      if (lines === '') return;
      const file = join(inserts, String(inserted++));
      try {
        await writeFile(file, lines);
        const from = (structure: string) => `file(${quoted(file)}, '${format}', ${structure})`;
        const { sql, params } = await insertStatement(
          describe,
          table,
          firstLineOf(lines),
          format,
          from,
          options.guard,
        );
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
      // The engine crashes the process when it is closed under a running query.
      await turns.take({ priority: 'write' }, async () => {
        closed = true;
      });
      await turns.idle();
      await client.close();
      forget();
    },
  };
}

type Engine = typeof import('chdb/connection');

/** The engine is optional, and not in the image. */
function load(): Promise<Engine> {
  return import('chdb/connection').catch((cause: unknown) => {
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

async function connect(engine: Engine, folder: string): Promise<ClickHouseClient> {
  try {
    const client = createClient({ connection: engine.createChdbConnection({ path: folder }) } as never);
    await client.command({ query: sessionSettings });
    return client;
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

/**
 * A statement that fails half-way leaves what it had printed in the engine's buffer, and
 * the next statement's answer begins with it (seen with chdb 3.4.0 after a timeout). Ask
 * for a known answer until it comes back clean, before anybody else has a turn.
 */
async function dropLeftovers(client: ClickHouseClient): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    try {
      const answer = await client.exec({ query: `SELECT 'clean' FORMAT TSVRaw` });
      if ((await readAll(answer.stream)).toString() === 'clean\n') return;
    } catch {
      // asked again
    }
  }
  throw new Error('the embedded ClickHouse does not recover from a failed statement');
}
