import { join } from 'node:path';
import type { Metrics } from '../runtime/metrics.js';
import {
  aroundStatements,
  type Database,
  type Priority,
  QueryTooLarge,
  type StatementOptions,
} from './database.js';
import { openEmbedded } from './embedded.js';
import { openServer } from './server.js';
import { createTurns, type Turns } from './turns.js';

/** Which engine to use, as the configuration says. */
export interface DatabaseConfig {
  readonly DATA_DIR: string;
  readonly CLICKHOUSE_URL: string;
  readonly CLICKHOUSE_USER: string;
  readonly CLICKHOUSE_PASSWORD: string;
  readonly CLICKHOUSE_CLUSTER: string;
  /** Undefined in programs that answer no calls about the chain. */
  readonly QUERY_MEMORY_MB?: number;
}

/** Statements of each kind that a server is sent at the same time, and urgent ones besides. */
const connectionsOf: Readonly<Record<Priority, number>> = { read: 10, write: 4, background: 2 };
const urgentConnections = 4;

/** Opens the engine: a server when CLICKHOUSE_URL is set, else the embedded one in DATA_DIR. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  return bounded(await openEngine(config), config.QUERY_MEMORY_MB);
}

/** A database whose statements for calls may take so much memory: whoever calls has a deadline. */
function bounded(database: Database, most_mb: number | undefined): Database {
  if (most_mb === undefined) return database;
  const memory_bytes = most_mb * 1024 * 1024;
  return aroundStatements(database, (options, run) =>
    run(
      options.deadline === undefined || options.priority === 'write' ? options : { ...options, memory_bytes },
    ),
  );
}

async function openEngine(config: DatabaseConfig): Promise<Database> {
  if (config.CLICKHOUSE_URL === '') return openEmbedded(join(config.DATA_DIR, 'clickhouse'));
  const connect = (connections: number): Database => {
    return openServer({
      url: config.CLICKHOUSE_URL,
      username: config.CLICKHOUSE_USER,
      password: config.CLICKHOUSE_PASSWORD,
      replicated: config.CLICKHOUSE_CLUSTER !== '',
      connections,
    });
  };
  const { read, write, background } = connectionsOf;
  return split(queued(connect(read + write + background)), connect(urgentConnections));
}

/** A server whose statements take turns: those of each kind apart, clients by turns, and without those whose callers have left. */
function queued(database: Database): Database {
  const turns: Readonly<Record<Priority, Turns>> = {
    read: createTurns(connectionsOf.read),
    write: createTurns(connectionsOf.write),
    background: createTurns(connectionsOf.background),
  };
  return aroundStatements(database, (options, run, priority) =>
    turns[options.priority ?? priority].take(options, () => {
      options.onTurn?.();
      return run(options);
    }),
  );
}

/** One database over two ways to it, of which the second is for urgent statements alone. */
function split(usual: Database, urgent: Database): Database {
  const of = ({ isUrgent }: StatementOptions): Database => (isUrgent === true ? urgent : usual);
  return {
    isExclusive: usual.isExclusive,
    command: (sql, params, options) => of(options).command(sql, params, options),
    rows: <T>(sql: string, params: Readonly<Record<string, unknown>>, options: StatementOptions) =>
      of(options).rows<T>(sql, params, options),
    bytes: (sql, format, params, options) => of(options).bytes(sql, format, params, options),
    insert: (table, rows, options) => of(options).insert(table, rows, options),
    async close() {
      await Promise.all([usual.close(), urgent.close()]);
    },
  };
}

/** The same database, with its statements timed and counted as those of a service. Closing stays with the owner. */
export function measured(database: Database, service: string, metrics: Metrics): Database {
  const timed = aroundStatements(database, async (options, run) => {
    const end = metrics.querySeconds.startTimer({ service, statement: options.name });
    try {
      return await run(options);
    } catch (error) {
      metrics.queryErrors.inc({ service, statement: options.name });
      if (error instanceof QueryTooLarge) metrics.limits.inc({ service, limit: 'QUERY_MEMORY_MB' });
      throw error;
    } finally {
      end();
    }
  });
  return { ...timed, close: async () => {} };
}
