import { join } from 'node:path';
import type { Database } from '../common/clickhouse/database.js';
import { prepareTables, readMigrations } from '../common/clickhouse/migrate.js';
import type { Log } from '../common/runtime/log.js';
import { packageRoot } from '../common/runtime/paths.js';
import { createFence, type Fence, type Superseded } from '../common/writer/fence.js';
import { prepareWriters } from '../common/writer/writers.js';
import type { ScoringConfig } from './config.js';

/** The database of the service's tables, by CLICKHOUSE_DATABASE. */
export const scoringDatabase = (prefix: string): string => `${prefix}_scoring`;

/** The right to write the rows of one program: Jobs of different programs write side by side. */
export interface ProgramFenceOptions {
  readonly database: Database;
  readonly database_name: string;
  /** Chain id and contract, as the tables call the program. */
  readonly program: string;
  /** How long a process that writes is silent before another one takes over, in milliseconds. */
  readonly lease_ms: number;
  readonly log: Log;
  /** Called when another process has taken over; every write fails from then on. */
  readonly onSuperseded?: ((error: Superseded) => void) | undefined;
}

/** Makes the fence of a program; nothing is written before it is acquired. */
export function createProgramFence(options: ProgramFenceOptions): Fence {
  const { database, database_name, program, lease_ms, log, onSuperseded = () => {} } = options;
  return createFence({
    ...{ database, scope: program, lease_ms, log, onSuperseded },
    target: { database: database_name, cluster: '' },
    what: `the rows of the program ${program}`,
  });
}

/** Sees to the tables of the service; the name of its database. */
export async function makeTables(
  database: Database,
  config: Pick<ScoringConfig, 'CLICKHOUSE_DATABASE' | 'CLICKHOUSE_CLUSTER' | 'MIGRATIONS'>,
): Promise<string> {
  const target = {
    database: scoringDatabase(config.CLICKHOUSE_DATABASE),
    cluster: config.CLICKHOUSE_CLUSTER,
  };
  const migrations = readMigrations(join(packageRoot, 'services/scoring-operator/schema'));
  await prepareWriters(database, target, config.MIGRATIONS);
  await prepareTables(database, migrations, target, config.MIGRATIONS);
  return target.database;
}
