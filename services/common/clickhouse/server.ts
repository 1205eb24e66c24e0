import { Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { sleep } from '../runtime/lifecycle.js';
import {
  asKnownError,
  codeOf,
  type Database,
  DatabaseUnavailable,
  formatOf,
  type InsertOptions,
  type InsertRows,
  type Params,
  parseLines,
  readAll,
  type StatementOptions,
  secondsLeft,
  stoppingAfter,
  withinMemory,
} from './database.js';
import { type Column, insertStatement, rememberColumns } from './insert.js';

/** Node's codes for a server that is not there or went away, and the client's word for one that is silent. */
const unreachable =
  /ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|socket hang up|^Error: Timeout error/i;

/** ClickHouse's error code for an insert that came before the quorum had the one before; nothing of it was written. */
const quorumBusy = '286';

/** How often such an insert is tried, and the time between, in milliseconds. */
const [quorumAttempts, quorumPause_ms] = [50, 100];

export interface ServerOptions {
  /** http(s)://[user:password@]host:port */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** Whether the tables are replicated: then a write counts once a quorum has it, and reads see it. */
  readonly replicated: boolean;
  /** Statements that it is sent at the same time. Default: 16. */
  readonly connections?: number;
  /** How long the server may be silent, in milliseconds. Default: two minutes. */
  readonly timeout_ms?: number;
}

/** A ClickHouse server over HTTP, with the same statements as the embedded engine. */
export function openServer(options: ServerOptions): Database {
  const url = new URL(options.url);
  const username = options.username || decodeURIComponent(url.username) || 'default';
  const password = options.password || decodeURIComponent(url.password);
  url.username = '';
  url.password = '';
  const client = createClient({
    url,
    username,
    password,
    compression: { request: true, response: false },
    // A server refuses URLs above 1 MiB: parameters that are not short go into the body.
    use_multipart_params_auto: true,
    max_open_connections: options.connections ?? 16,
    request_timeout: options.timeout_ms ?? 120_000,
    // What fails is logged by who asked; the client would print it to the console as it likes.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      async_insert: 0,
      insert_deduplicate: 0,
      mutations_sync: '2',
      distributed_foreground_insert: 1,
      // Reads are sequential only of inserts that are, too: those of a table come one after the other.
      ...(options.replicated
        ? { insert_quorum: 'auto', insert_quorum_parallel: 0, select_sequential_consistency: '1' }
        : {}),
    },
  });

  const guarded = async <T>(
    statement: StatementOptions,
    work: (settings: Record<string, string | number>) => Promise<T>,
  ): Promise<T> => {
    const seconds = secondsLeft(statement.deadline, statement.name);
    const settings = {
      ...(seconds === undefined ? {} : { max_execution_time: seconds }),
      ...(statement.request_id === undefined ? {} : { log_comment: statement.request_id }),
      ...withinMemory(statement.memory_bytes),
      ...stoppingAfter(statement.stop_after_bytes),
    };
    try {
      return await work(settings);
    } catch (error) {
      const known = asKnownError(error, statement.name);
      if (known !== error) throw known;
      if (unreachable.test(String(codeOf(error))) || unreachable.test(String(error))) {
        throw new DatabaseUnavailable(`${statement.name}: the ClickHouse server does not answer`, {
          cause: error,
        });
      }
      throw error;
    }
  };

  const bytes = (sql: string, format: string, params: Params, statement: StatementOptions): Promise<Buffer> =>
    guarded(statement, async (clickhouse_settings) => {
      const answer = await client.query({
        query: sql,
        // Any format of the server's: the bytes are not looked at by the client.
        format: format as 'TabSeparated',
        query_params: { ...params },
        clickhouse_settings,
      });
      // The client decodes what it streams, and has nothing to decode binary formats with.
      return readAll(answer['_stream']);
    });

  const rows = async <T>(sql: string, params: Params, statement: StatementOptions): Promise<T[]> =>
    parseLines<T>(await bytes(sql, 'JSONEachRow', params, statement));
  const describe = rememberColumns((table) =>
    rows<Column>(`DESCRIBE TABLE ${table}`, {}, { name: 'describe' }),
  );

  const insertOnce = async (
    table: string,
    rows: InsertRows,
    { guard, ...statement }: InsertOptions,
  ): Promise<void> => {
    const { sql, params } =
      guard === undefined
        ? { sql: `INSERT INTO ${table}`, params: {} }
        : await insertStatement(describe, table, rows, (all) => `input(${all})`, guard);
    const limits =
      guard?.limit_seconds === undefined
        ? {}
        : { max_execution_time: guard.limit_seconds, insert_quorum_timeout: guard.limit_seconds * 1_000 };
    await guarded({ ...statement, deadline: undefined }, async (clickhouse_settings) => {
      const { stream } = await client.exec({
        query: `${sql} FORMAT ${formatOf(rows)}`,
        query_params: { ...params },
        values: Readable.from([rows], { objectMode: false }),
        clickhouse_settings: { ...clickhouse_settings, ...limits },
      });
      await readAll(stream);
    });
  };

  return {
    isExclusive: false,
    command: (sql, params, statement) =>
      guarded(statement, async (clickhouse_settings) => {
        await client.command({ query: sql, query_params: { ...params }, clickhouse_settings });
      }),
    rows,
    bytes,
    async insert(table, rows, statement) {
      if (rows.length === 0) return;
      for (let attempt = 1; ; attempt++) {
        try {
          return await insertOnce(table, rows, statement);
        } catch (error) {
          // Jobs that score write to the same tables: one waits until the quorum has what the other wrote.
          if (codeOf(error) !== quorumBusy || attempt === quorumAttempts) throw error;
          await sleep(quorumPause_ms);
        }
      }
    },
    close: () => client.close(),
  };
}
