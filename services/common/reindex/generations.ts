import { join } from 'node:path';
import type { Database } from '../clickhouse/database.js';
import { type MigrationMode, prepareTables, readMigrations, type Target } from '../clickhouse/migrate.js';
import { packageRoot } from '../paths.js';
import type { FencedDatabase } from '../writer/fence.js';
import { isWriterTable } from '../writer/writers.js';

/** Which generations of a service's tables there are, as its `generations` table says. */
export interface Generations {
  /** Grows with every change. */
  readonly revision: number;
  /** The generation that calls are answered from. */
  readonly in_use: number;
  /** The generation that is being built; 0 while none is. */
  readonly building: number;
  /** Whether its tables are made, and hold nothing of an earlier attempt. */
  readonly is_prepared: boolean;
}

/** What holds while nothing was ever rebuilt. */
const first: Generations = { revision: 0, in_use: 1, building: 0, is_prepared: false };

/** What the `generations` table and its record of migrations are called. */
const [tableName, ledgerName] = ['generations', 'generation_migrations'];

/** Tables of the first database that belong to no generation. */
export function isControlTable(table: string): boolean {
  const name = table.replace(/_local$/, '');
  return [tableName, ledgerName].includes(name) || isWriterTable(name);
}

/** Where a generation's tables are. @param base the service's first database. */
export function targetOf(base: Target, generation: number): Target {
  return generation === 1 ? base : { ...base, database: `${base.database}_g${generation}` };
}

/** Sees to the table that says which generation is in use. */
export async function prepareGenerations(
  database: Database,
  base: Target,
  mode: MigrationMode,
): Promise<void> {
  const migrations = readMigrations(join(packageRoot, 'services/common/reindex/schema'));
  await prepareTables(database, migrations, base, mode, ledgerName);
}

/** Reads the state that counts. */
export async function readGenerations(database: Database, base: Target): Promise<Generations> {
  const [row] = await database.rows<Generations>(
    `SELECT revision, in_use, building, is_prepared FROM ${base.database}.${tableName} ORDER BY revision DESC LIMIT 1`,
    {},
    { name: 'generations.read' },
  );
  return row ?? first;
}

/** Writes the state after another one. @returns the new state. @throws Superseded */
export async function writeGenerations(
  database: FencedDatabase,
  base: Target,
  before: Generations,
  change: Partial<Omit<Generations, 'revision'>>,
): Promise<Generations> {
  const next = { ...before, ...change, revision: before.revision + 1 };
  await database.insert(
    `${base.database}.${tableName} (revision, in_use, building, is_prepared)`,
    JSON.stringify(next),
    { name: 'generations.write' },
  );
  await database.confirm();
  return next;
}

/** A number that no generation has had: tables of a cancelled one may not be gone yet. */
export async function nextGeneration(database: Database, base: Target): Promise<number> {
  const [row] = await database.rows<{ last: number }>(
    `SELECT max(greatest(in_use, building)) AS last FROM ${base.database}.${tableName}`,
    {},
    { name: 'generations.next' },
  );
  return Math.max(1, row?.last ?? 0) + 1;
}
