import { join } from 'node:path';
import type { Database } from '../clickhouse/database.js';
import { type MigrationMode, prepareTables, readMigrations, type Target } from '../clickhouse/migrate.js';
import { packageRoot } from '../runtime/paths.js';

/** A row of `writers`, see the schema. */
export interface WriterRow {
  readonly scope: string;
  readonly epoch: number;
  readonly id: string;
  readonly beat: number;
  readonly lease_ms: number;
  readonly is_released: boolean;
  readonly host: string;
}

const ledger = 'writer_migrations';

/** A sign of life that waits behind slow reads may come after the lease. */
const urgent = { priority: 'write', isUrgent: true } as const;

/** Tables that stay when a service's other tables are replaced. */
export const isWriterTable = (name: string): boolean => ['writers', ledger].includes(name);

/** The table of writers, qualified. */
export const writersOf = ({ database }: Target): string => `${database}.writers`;

/** Makes the table of writers, or checks that it is there. */
export async function prepareWriters(database: Database, target: Target, mode: MigrationMode): Promise<void> {
  const migrations = readMigrations(join(packageRoot, 'services/common/writer/schema'));
  await prepareTables(database, migrations, target, mode, ledger);
}

/** Every writer of a scope there ever was, each as it last was. */
export function readWriters(database: Database, target: Target, scope: string): Promise<WriterRow[]> {
  return database.rows<WriterRow>(
    `SELECT w.scope AS scope, w.epoch AS epoch, w.id AS id, max(w.beat) AS beat, any(w.lease_ms) AS lease_ms,
       argMax(w.is_released, w.beat) AS is_released, any(w.host) AS host
     FROM ${writersOf(target)} AS w
     WHERE w.scope = {scope:String}
     GROUP BY w.scope, w.epoch, w.id
     ORDER BY epoch`,
    { scope },
    { name: 'writers.read', ...urgent },
  );
}

/** The newest epoch of a scope; 0 before the first. */
export async function readEpoch(database: Database, target: Target, scope: string): Promise<number> {
  const [row] = await database.rows<{ epoch: number }>(
    `SELECT max(w.epoch) AS epoch FROM ${writersOf(target)} AS w WHERE w.scope = {scope:String}`,
    { scope },
    { name: 'writers.epoch', ...urgent },
  );
  return row?.epoch ?? 0;
}

/** The newest epoch among the blocks of a service's tables; undefined where there is no block. */
export async function readRowEpoch(database: Database, target: Target): Promise<number | undefined> {
  const [row] = await database.rows<{ epoch: number; n: number }>(
    `SELECT max(b.epoch) AS epoch, count() AS n FROM ${target.database}.blocks AS b`,
    {},
    { name: 'writers.row_epoch', priority: 'write' },
  );
  return row === undefined || row.n === 0 ? undefined : row.epoch;
}

/** Writes how a writer is. */
export async function writeWriter(database: Database, target: Target, row: WriterRow): Promise<void> {
  await database.insert(
    `${writersOf(target)} (scope, epoch, id, beat, lease_ms, is_released, host)`,
    JSON.stringify(row),
    { name: 'writers.write', ...urgent },
  );
}
