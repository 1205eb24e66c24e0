import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TryAgainError, UserError } from '../runtime/errors.js';
import type { Database } from './database.js';

/** Where and how tables are made. */
export interface Target {
  /** The service's own database. */
  readonly database: string;
  /** Cluster to create the tables on, with Replicated engines; empty for a single machine. */
  readonly cluster: string;
}

/** One numbered file of a service's schema folder. Frozen once it has shipped. */
export interface Migration {
  /** The file's name without its ending, e.g. `0001_blocks`. */
  readonly name: string;
  /** The text as written, with placeholders. */
  readonly template: string;
}

/** The migrations of a schema folder in order. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.slice(0, -4), template: readFileSync(join(folder, file), 'utf8') }));
}

/**
 * The statements of a migration for a target. Placeholders, each in double braces:
 *
 * - `database`: the service's database.
 * - `on_cluster`: `ON CLUSTER name`, or nothing.
 * - `MergeTree`, `ReplacingMergeTree(version)` ...: that engine, or its Replicated form.
 * - `local NAME`: the table that holds the rows: `NAME`, or `NAME_local` on a cluster.
 * - `distributed NAME KEY`: nothing, or a further statement that makes the Distributed
 *   table NAME over the shards, with KEY as its sharding expression.
 * - `add NAME COLUMN TYPE`: statements that add a column to the table NAME, and to the Distributed
 *   one over it.
 */
export function renderMigration(migration: Migration, target: Target): string[] {
  const clustered = target.cluster !== '';
  const onCluster = clustered ? `ON CLUSTER '${target.cluster}'` : '';
  return migration.template
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll(/\{\{([^}]*)\}\}/g, (_, inside: string) => {
      const [word = '', name = '', ...rest] = inside.trim().split(/\s+/);
      const key = rest.join(' ');
      if (word === 'database') return target.database;
      if (word === 'on_cluster') return onCluster;
      if (word === 'local') return `${target.database}.${name}${clustered ? '_local' : ''}`;
      if (word === 'distributed') {
        if (!clustered) return '';
        const [full, local] = [`${target.database}.${name}`, `${name}_local`];
        return `CREATE TABLE IF NOT EXISTS ${full} ${onCluster} AS ${target.database}.${local} ENGINE = Distributed('${target.cluster}', '${target.database}', '${local}', ${key});`;
      }
      if (word === 'add') {
        const tables = clustered ? [`${name}_local`, name] : [name];
        return tables
          .map((one) => `ALTER TABLE ${target.database}.${one} ${onCluster} ADD COLUMN IF NOT EXISTS ${key};`)
          .join('\n');
      }
      if (/^\w*MergeTree(\(.*\))?$/.test(word)) return clustered ? `Replicated${word}` : word;
      throw new Error(`${migration.name}: unknown placeholder {{${word}}}`);
    })
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Whether a process makes and alters tables at its start, or waits until another has. */
export type MigrationMode = 'apply' | 'check';

/** The tables are not yet those that this version needs, and somebody else is to migrate them. */
export class TablesBehind extends TryAgainError {
  override name = 'TablesBehind';
}

/** The oldest version of a ClickHouse server that has everything that statements use: `read_in_order_use_buffering`. */
const oldestServer = [24, 7] as const;

/** @throws UserError where the server is too old. */
export function checkServerVersion(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
  if (isOld)
    throw new UserError(
      `the ClickHouse server is of version ${version}: weft needs ${oldestServer.join('.')} or newer`,
    );
}

/** Sees to it that a database has the tables of these migrations, in the way that the mode says. */
export async function prepareTables(
  database: Database,
  migrations: readonly Migration[],
  target: Target,
  mode: MigrationMode,
  ledger?: string,
): Promise<void> {
  if (!database.isExclusive) {
    const [server] = await database.rows<{ version: string }>('SELECT version() AS version', {}, options);
    if (server !== undefined) checkServerVersion(server.version);
  }
  if (mode === 'apply') await migrate(database, migrations, target, ledger);
  else await checkMigrated(database, migrations, target, ledger);
}

/** What a statement of a migration is called in metrics. */
const options = { name: 'migrate', priority: 'write' as const };

/**
 * Brings a service's database up to date: runs the migrations that have not run yet.
 * Every statement is idempotent (IF NOT EXISTS), so that a migration that was cut short,
 * or that two replicas run at once, does no harm.
 *
 * @param ledger the table that remembers which migrations ran; a second set of tables in
 *   the same database has one of its own.
 * @returns names of the migrations that ran now.
 * @throws UserError when the tables are of a newer version that this one cannot work on,
 *   or another text is known under the same name.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  target: Target,
  ledger = 'migrations',
): Promise<string[]> {
  const onCluster = target.cluster === '' ? '' : `ON CLUSTER '${target.cluster}'`;
  const engine = target.cluster === '' ? 'ReplacingMergeTree' : 'ReplicatedReplacingMergeTree';
  await database.command(`CREATE DATABASE IF NOT EXISTS ${target.database} ${onCluster}`, {}, options);
  await database.command(
    `CREATE TABLE IF NOT EXISTS ${target.database}.${ledger} ${onCluster} (name String, checksum String, applied_at DateTime DEFAULT now()) ENGINE = ${engine} ORDER BY name`,
    {},
    options,
  );
  const missing = missingOf(migrations, await readLedger(database, target, ledger), target);
  for (const migration of missing) {
    for (const statement of renderMigration(migration, target))
      await database.command(statement, {}, options);
    await database.insert(
      `${target.database}.${ledger} (name, checksum)`,
      JSON.stringify({ name: migration.name, checksum: recordOf(migration) }),
      options,
    );
  }
  return missing.map(({ name }) => name);
}

/**
 * Changes nothing: looks whether a database has the tables of these migrations.
 *
 * @throws TablesBehind with the names of those that have not run, UserError as `migrate` does.
 */
async function checkMigrated(
  database: Database,
  migrations: readonly Migration[],
  target: Target,
  ledger = 'migrations',
): Promise<void> {
  const [found] = await database.rows<{ tables: number }>(
    'SELECT toUInt32(count()) AS tables FROM system.tables WHERE database = {database: String} AND name = {ledger: String}',
    { database: target.database, ledger },
    options,
  );
  const applied = found?.tables ? await readLedger(database, target, ledger) : new Map<string, string>();
  const missing = missingOf(migrations, applied, target).map(({ name }) => name);
  if (missing.length > 0)
    throw new TablesBehind(
      `${target.database} lacks ${missing.join(', ')}: \`weft migrate\` of this version has not run yet`,
    );
}

/** What ran, by name: how it was recorded. */
async function readLedger(
  database: Database,
  target: Target,
  ledger: string,
): Promise<ReadonlyMap<string, string>> {
  const { database: name, cluster } = target;
  // Each shard has the rows of the migrations that were sent to it: what counts is that they ran at all, on all.
  const [from, settings] =
    cluster === ''
      ? [`${name}.${ledger}`, '']
      : [`clusterAllReplicas('${cluster}', '${name}', '${ledger}')`, 'SETTINGS skip_unavailable_shards = 1'];
  const rows = await database.rows<{ name: string; checksum: string }>(
    `SELECT name, any(checksum) AS checksum FROM ${from} GROUP BY name ORDER BY name ${settings}`,
    {},
    options,
  );
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

/** The migrations that have not run. */
function missingOf(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  { database }: Target,
): Migration[] {
  for (const [name, record] of applied) {
    const known = migrations.find((migration) => migration.name === name);
    if (known === undefined) refuseContracted(name, record, migrations, database);
    else if (record !== recordOf(known)) {
      throw new UserError(
        `the migration ${name} of ${database} is not the one that ran: migrations must not change once shipped`,
      );
    }
  }
  return migrations.filter(({ name }) => !applied.has(name));
}

/**
 * The migration of a newer version is no hindrance, so that a deployment can be rolled back:
 * it has only added something, unless it is recorded as one that took something away.
 */
function refuseContracted(
  name: string,
  record: string,
  migrations: readonly Migration[],
  database: string,
): void {
  const needed = /^needs=([^;]+);/.exec(record)?.[1];
  if (needed === undefined || migrations.some((migration) => migration.name === needed)) return;
  throw new UserError(
    `the database ${database} was made by a newer version of weft: its migration ${name} takes away what versions before ${needed} use`,
  );
}

/**
 * What the ledger keeps of a migration: the checksum of its text. A text with a line
 * `-- contracts: needs NAME` takes away what versions that do not know the migration NAME
 * still use; that stands in the record, since such a version cannot read the text.
 */
function recordOf({ template }: Migration): string {
  const checksum = createHash('sha256').update(template).digest('hex');
  const needed = /^\s*--\s*contracts: needs (\S+)\s*$/m.exec(template)?.[1];
  return needed === undefined ? checksum : `needs=${needed};${checksum}`;
}
