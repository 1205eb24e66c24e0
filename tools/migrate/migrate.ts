import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import { prepareGenerations, readGenerations, targetOf } from '../../services/common/reindex/generations.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { prepareWriters } from '../../services/common/writer/writers.js';

/** The services that have tables: what the name of their database ends with, and the folder of the service. */
const services = [
  { name: 'block', folder: 'block', isRebuildable: false },
  { name: 'tx', folder: 'tx', isRebuildable: true },
  { name: 'nft', folder: 'nft', isRebuildable: true },
  { name: 'richlist', folder: 'richlist', isRebuildable: true },
  { name: 'scoring', folder: 'scoring-operator', isRebuildable: false },
] as const;

/** What was done in one database. */
export interface Migrated {
  readonly database: string;
  /** Names of the migrations that ran now. */
  readonly ran: readonly string[];
}

/**
 * Brings the tables of every service up to date, one after the other. Of a service that was
 * rebuilt those in use; tables that are being built see to themselves.
 *
 * @throws UserError where the tables are of a newer version that this one cannot work on.
 */
export async function* migrateAll(
  database: Database,
  config: { readonly CLICKHOUSE_DATABASE: string; readonly CLICKHOUSE_CLUSTER: string },
): AsyncGenerator<Migrated> {
  for (const { name, folder, isRebuildable } of services) {
    const base = {
      database: `${config.CLICKHOUSE_DATABASE}_${name}`,
      cluster: config.CLICKHOUSE_CLUSTER,
    };
    if (isRebuildable) await prepareGenerations(database, base, 'apply');
    await prepareWriters(database, base, 'apply');
    const target = isRebuildable ? targetOf(base, (await readGenerations(database, base)).in_use) : base;
    const migrations = readMigrations(join(packageRoot, 'services', folder, 'schema'));
    yield { database: target.database, ran: await migrate(database, migrations, target) };
  }
}
