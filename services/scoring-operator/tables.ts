import { join } from 'node:path';
import type { Database } from '../common/clickhouse/database.js';
import { prepareTables, readMigrations } from '../common/clickhouse/migrate.js';
import { packageRoot } from '../common/paths.js';
import type { ScoringConfig } from './config.js';

/** The database of the service's tables, by CLICKHOUSE_DATABASE. */
export const scoringDatabase = (prefix: string): string => `${prefix}_scoring`;

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
  await prepareTables(database, migrations, target, config.MIGRATIONS);
  return target.database;
}
