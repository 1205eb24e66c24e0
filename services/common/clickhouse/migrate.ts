import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../errors.js';
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
      if (/^\w*MergeTree(\(.*\))?$/.test(word)) return clustered ? `Replicated${word}` : word;
      throw new Error(`${migration.name}: unknown placeholder {{${word}}}`);
    })
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/**
 * Brings a service's database up to date: runs the migrations that have not run yet.
 * Every statement is idempotent (IF NOT EXISTS), so that a migration that was cut short,
 * or that two replicas run at once, does no harm.
 *
 * @param ledger the table that remembers which migrations ran; a second set of tables in
 *   the same database has one of its own.
 * @returns names of the migrations that ran now.
 * @throws UserError when the database holds a migration that this version does not know,
 *   or another text under the same name.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  target: Target,
  ledger = 'migrations',
): Promise<string[]> {
  const options = { name: 'migrate', priority: 'write' as const };
  const onCluster = target.cluster === '' ? '' : `ON CLUSTER '${target.cluster}'`;
  const engine = target.cluster === '' ? 'ReplacingMergeTree' : 'ReplicatedReplacingMergeTree';
  await database.command(`CREATE DATABASE IF NOT EXISTS ${target.database} ${onCluster}`, {}, options);
  await database.command(
    `CREATE TABLE IF NOT EXISTS ${target.database}.${ledger} ${onCluster} (name String, checksum String, applied_at DateTime DEFAULT now()) ENGINE = ${engine} ORDER BY name`,
    {},
    options,
  );
  const rows = await database.rows<{ name: string; checksum: string }>(
    `SELECT name, any(checksum) AS checksum FROM ${target.database}.${ledger} GROUP BY name ORDER BY name`,
    {},
    options,
  );
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  for (const name of applied.keys()) {
    if (!migrations.some((migration) => migration.name === name)) {
      throw new UserError(
        `the database ${target.database} was made by a newer version of weft (migration ${name})`,
      );
    }
  }
  const ran: string[] = [];
  for (const migration of migrations) {
    const checksum = createHash('sha256').update(migration.template).digest('hex');
    const known = applied.get(migration.name);
    if (known === checksum) continue;
    if (known !== undefined) {
      throw new UserError(
        `the migration ${migration.name} of ${target.database} is not the one that ran: migrations must not change once shipped`,
      );
    }
    for (const statement of renderMigration(migration, target))
      await database.command(statement, {}, options);
    await database.insert(
      `${target.database}.${ledger} (name, checksum)`,
      JSON.stringify({ name: migration.name, checksum }),
      options,
    );
    ran.push(migration.name);
  }
  return ran;
}
