import type { Readable } from 'node:stream';
import { TupleParam } from '@clickhouse/client';
import { status } from '@grpc/grpc-js';
import { AccessDenied, messageOf, RpcError } from '../runtime/errors.js';
import type { Target } from './migrate.js';

/** Values for the `{name:Type}` placeholders of a statement. */
export type Params = Readonly<Record<string, unknown>>;

/** A value for a placeholder of type Tuple(...): a plain list would be taken for an Array. */
export const tuple = (values: readonly unknown[]): unknown => new TupleParam(values);

/**
 * Whose statement it is: `read` for a call that somebody waits for, `write` for what follows the
 * chain, `background` for what may take its time, such as a rebuild. Each has sessions, or connections to a
 * server, of its own.
 */
export type Priority = 'read' | 'write' | 'background';

/** What a statement carries of the call that wants it. */
export interface Call {
  /** When the answer is of no more use, in milliseconds since the epoch: the engine stops then. */
  readonly deadline?: number | undefined;
  /** The id of the request that wants it; it is found again in the engine's own query log. */
  readonly request_id?: string | undefined;
  /** Whether anybody still wants the answer: a statement that nobody wants when its turn comes is dropped. */
  readonly isWanted?: (() => boolean) | undefined;
  /** Who wants the answer: statements of each client take turns. */
  readonly client?: string | undefined;
}

/** What a statement may need besides its text. */
export interface StatementOptions extends Call {
  /** What the statement is called in metrics and logs, e.g. `tx.by_hash`. */
  readonly name: string;
  /** Default: read, or write for an insert. */
  readonly priority?: Priority | undefined;
  /** Whether it must not wait for other statements: where the database is a server, it has connections for such ones. */
  readonly isUrgent?: boolean | undefined;
  /** Told when the statement begins to run. */
  readonly onTurn?: (() => void) | undefined;
  /** The statement fails with QueryTooLarge when it takes more bytes of the engine's memory. */
  readonly memory_bytes?: number | undefined;
  /** The engine stops to read after about so many bytes: the answer may lack rows at its end. */
  readonly stop_after_bytes?: number | undefined;
}

/** On what the rows of an insert depend, and what they carry; see writer/fence.ts. */
export interface Guard {
  /** Number of the writer, in the column `epoch` of every row. */
  readonly epoch: number;
  /** The insert adds nothing unless this holds when it starts. Always holds where it is undefined. */
  readonly condition: { readonly sql: string; readonly params: Params } | undefined;
  /** How long the statement may run, in seconds: after that it has added nothing. */
  readonly limit_seconds: number | undefined;
}

/** What an insert may need besides its rows. */
export interface InsertOptions extends StatementOptions {
  readonly guard?: Guard | undefined;
}

/** Rows of an insert: JSON objects, one a line (JSONEachRow), or bytes (RowBinary, see `createBinaryRows`). */
export type InsertRows = string | Buffer;

/** What the engine calls the format of rows. */
export const formatOf = (rows: InsertRows): 'JSONEachRow' | 'RowBinary' =>
  typeof rows === 'string' ? 'JSONEachRow' : 'RowBinary';

/**
 * ClickHouse as the stores see it: statements with typed parameters, lines in, bytes out.
 * The engine behind it is embedded or a server.
 */
export interface Database {
  /** Whether no other process can have the tables open: the embedded engine locks its folder. */
  readonly isExclusive: boolean;
  /** Runs a statement that gives no rows. */
  command(sql: string, params: Params, options: StatementOptions): Promise<void>;
  /** Runs a query; UInt64 columns come as numbers, wider ones must be cast to text. */
  rows<T>(sql: string, params: Params, options: StatementOptions): Promise<T[]>;
  /** Runs a query and gives the answer in a format of ClickHouse, as bytes. */
  bytes(sql: string, format: string, params: Params, options: StatementOptions): Promise<Buffer>;
  /**
   * Inserts rows.
   *
   * @param table the qualified table, with its column list where the rows are bytes.
   * @param rows none of them inserts nothing. Bytes are cheaper on both sides.
   */
  insert(table: string, rows: InsertRows, options: InsertOptions): Promise<void>;
  /** Waits for what runs and closes the engine. */
  close(): Promise<void>;
}

/**
 * The same database, with something done around each of its statements.
 *
 * @param around runs a statement, perhaps with other options; its share of the time is by default the one given.
 */
export const aroundStatements = (
  database: Database,
  around: <T, Options extends StatementOptions>(
    options: Options,
    run: (options: Options) => Promise<T>,
    priority: 'read' | 'write',
  ) => Promise<T>,
): Database => ({
  isExclusive: database.isExclusive,
  command: (sql, params, options) => around(options, (some) => database.command(sql, params, some), 'read'),
  rows: <T>(sql: string, params: Params, options: StatementOptions) =>
    around(options, (some) => database.rows<T>(sql, params, some), 'read'),
  bytes: (sql, format, params, options) =>
    around(options, (some) => database.bytes(sql, format, params, some), 'read'),
  insert: (table, rows, options) => around(options, (some) => database.insert(table, rows, some), 'write'),
  close: () => database.close(),
});

/**
 * ClickHouse's error codes for a query that ran past max_execution_time, one that takes more than max_memory_usage, and one
 * that takes privileges that the account has not.
 */
const [timeoutExceeded, memoryExceeded, accessDenied] = ['159', '241', '497'];

/** The code that ClickHouse has given an error, or Node the failure to reach it; undefined without one. */
export const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code;

/** Node's codes for a server that a statement has not reached. */
const notReached = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Whether a statement that failed does not run any more for certain: the server says why it failed, or never had it. */
export function hasEnded(error: unknown): boolean {
  const code = String(codeOf(error) ?? codeOf((error as { cause?: unknown } | undefined)?.cause));
  return /^\d+$/.test(code) || notReached.includes(code);
}

/** The query or insert did not finish before its deadline. */
export class QueryTimeout extends Error {
  override name = 'QueryTimeout';
}

/** The query would take more memory than a call may. */
export class QueryTooLarge extends Error {
  override name = 'QueryTooLarge';
}

/** The error of a statement as those who sent it know it, whatever the engine. */
export function asKnownError(error: unknown, name: string): unknown {
  const code = codeOf(error);
  if (code === timeoutExceeded) return new QueryTimeout(`${name} ran out of time`, { cause: error });
  if (code === memoryExceeded)
    return new QueryTooLarge(`${name} takes more memory than QUERY_MEMORY_MB allows`, { cause: error });
  if (code === accessDenied) return new AccessDenied(`${name}: ${messageOf(error)}`, { cause: error });
  return error;
}

/** Settings of a query that may take so much memory. */
export const withinMemory = (bytes: number | undefined): Record<string, string | number> =>
  bytes === undefined ? {} : { max_memory_usage: String(bytes) };

/** Settings of a query that stops early, read a few rows at a time so that it does not read far beyond. */
export const stoppingAfter = (bytes: number | undefined): Record<string, string | number> =>
  bytes === undefined ? {} : { max_result_bytes: bytes, result_overflow_mode: 'break', max_block_size: 2 };

/** Nobody wants the answer of a statement any more. */
export const callerLeft = (): RpcError => new RpcError(status.CANCELLED, 'the caller no longer waits');

/** The engine cannot be reached; the same statement may work later. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** All bytes of a stream. */
export function readAll(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    stream.on('error', reject);
  });
}

/** Objects from JSON lines. */
export function parseLines<T>(bytes: Buffer): T[] {
  const text = bytes.toString('utf8').trimEnd();
  return text === '' ? [] : (JSON.parse(`[${text.replaceAll('\n', ',')}]`) as T[]);
}

/** Seconds until a deadline for `max_execution_time`, undefined without one. @throws QueryTimeout when it is over. */
export function secondsLeft(deadline: number | undefined, name: string): number | undefined {
  if (deadline === undefined) return undefined;
  const seconds = (deadline - Date.now()) / 1000;
  if (seconds <= 0) throw new QueryTimeout(`${name} ran out of time while it waited for its turn`);
  return seconds;
}

/** The names of a service's tables in statements. */
export interface TableNames<Name extends string> {
  /** Where rows are read and inserted. */
  readonly of: (name: Name) => string;
  /** Where rows are removed: a Distributed table cannot do it, so those that hold the rows. */
  readonly removable: (name: Name) => string;
}

/** The names of the tables of a target. */
export function namesOf<Name extends string>({ database, cluster }: Target): TableNames<Name> {
  const of = (name: Name): string => `${database}.${name}`;
  return {
    of,
    removable: (name) => (cluster === '' ? of(name) : `${of(name)}_local ON CLUSTER '${cluster}'`),
  };
}
