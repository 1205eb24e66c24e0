import { join } from 'node:path';
import type { Database } from '../clickhouse/database.js';
import { type MigrationMode, prepareTables, readMigrations, type Target } from '../clickhouse/migrate.js';
import type { FaultPoint } from '../runtime/lifecycle.js';
import { packageRoot } from '../runtime/paths.js';
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

const options = { name: 'generations.drop', priority: 'write' as const };

/** The generations that have tables though they are neither in use nor being built. */
export async function leftovers(
  database: Database,
  base: Target,
  { in_use, building }: Generations,
): Promise<number[]> {
  const found = await existing(database, base);
  return found.filter((generation) => generation !== in_use && generation !== building);
}

/**
 * Removes the tables of a generation, and its database unless it is the first. What a removal
 * that was cut short has left is found again among the leftovers.
 */
export async function dropGeneration(
  database: Database,
  base: Target,
  generation: number,
  fault: FaultPoint,
): Promise<void> {
  const target = targetOf(base, generation);
  const onCluster = base.cluster === '' ? '' : `ON CLUSTER '${base.cluster}'`;
  // One table after the other: each holds up others' statements for as long as it takes.
  for (const name of await tablesIn(database, target.database)) {
    if (generation === 1 && isControlTable(name)) continue;
    await fault('reindex drop table');
    // SYNC, or the files would stay for minutes.
    await database.command(`DROP TABLE IF EXISTS ${target.database}.${name} ${onCluster} SYNC`, {}, options);
  }
  if (generation === 1) return;
  await fault('reindex drop database');
  await database.command(`DROP DATABASE IF EXISTS ${target.database} ${onCluster} SYNC`, {}, options);
}

/** Distributed tables first: they read the others. */
async function tablesIn(database: Database, name: string): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = {database:String} ORDER BY engine != 'Distributed', name`,
    { database: name },
    options,
  );
  return rows.map((row) => row.name);
}

/** The generations that have tables. */
async function existing(database: Database, base: Target): Promise<number[]> {
  const rows = await database.rows<{ name: string }>(
    `SELECT name FROM system.databases WHERE startsWith(name, {prefix:String})`,
    { prefix: `${base.database}_g` },
    options,
  );
  const later = rows
    .map(({ name }) => name.slice(base.database.length + 2))
    .filter((digits) => /^[1-9]\d*$/.test(digits))
    .map(Number);
  const hasFirst = (await tablesIn(database, base.database)).some((name) => !isControlTable(name));
  return [...(hasFirst ? [1] : []), ...later].sort((a, b) => a - b);
}
