import type { Database } from '../clickhouse/database.js';
import type { Target } from '../clickhouse/migrate.js';
import type { FaultPoint } from '../fault.js';
import { type Generations, isControlTable, targetOf } from './generations.js';

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
