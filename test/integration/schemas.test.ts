import assert from 'node:assert/strict';
import { join } from 'node:path';
import { migrate, readMigrations, renderMigration } from '../../services/common/clickhouse/migrate.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { testDatabase, uniquePrefix } from '../support/database.js';

for (const folder of ['block', 'tx', 'nft', 'richlist', 'scoring-operator', 'common/reindex'])
  describe(`the schema of ${folder}`, () => {
    const migrations = readMigrations(join(packageRoot, 'services', folder, 'schema'));
    const statementsOn = (cluster: string): string[] =>
      migrations.flatMap((migration) => renderMigration(migration, { database: 'd_x', cluster }));
    const [single, clustered] = [statementsOn(''), statementsOn('big-1')];
    const made = (statements: readonly string[]): string[] =>
      statements.filter((statement) => statement.startsWith('CREATE TABLE'));
    /** What can run again, and nothing that takes something away. */
    const adds =
      /^(CREATE TABLE IF NOT EXISTS d_x\.|ALTER TABLE d_x\.\w+\s+(ON CLUSTER 'big-1'\s+)?ADD COLUMN IF NOT EXISTS \w+ \w+(,\s+MODIFY ORDER BY \([\w, ]+\))?$)/;

    it('is understood by the engine, on one machine and on a cluster', async () => {
      const database = await testDatabase();
      for (const statement of [...single, ...clustered]) {
        assert.match(statement, adds);
        await database.rows(`EXPLAIN AST ${statement}`, {}, { name: 'parse' });
      }
    });

    it('names a cluster in every statement or in none', () => {
      assert.ok(made(single).length > 0);
      assert.equal(
        made(clustered).length,
        2 * made(single).length,
        'a cluster has a Distributed table for each',
      );
      const engine = /ENGINE = (Replicated\w*MergeTree\b|Distributed\('big-1', 'd_x', '\w+_local', )/;
      for (const statement of clustered) assert.match(statement, /ON CLUSTER 'big-1'/);
      for (const statement of made(clustered)) assert.match(statement, engine);
      assert.equal(
        clustered.filter((statement) => statement.includes('Distributed(')).length,
        made(single).length,
      );
      const altered = (name: RegExp): number => clustered.filter((statement) => name.test(statement)).length;
      assert.equal(
        altered(/^ALTER TABLE d_x\.\w+_local /),
        altered(/^ALTER TABLE /) / 2,
        'the rows, and the view of them',
      );
      for (const statement of single)
        assert.doesNotMatch(statement, /CLUSTER|_local|Replicated|Distributed|[{}]{2}/);
    });

    it('is made once', async () => {
      const database = await testDatabase();
      const target = { database: `${uniquePrefix()}_x`, cluster: '' };
      const names = migrations.map(({ name }) => name);
      assert.deepEqual(await migrate(database, migrations, target), names);
      assert.deepEqual(await migrate(database, migrations, target), []);
    });

    it('can be run again by a process that was cut short before it had noted it', async () => {
      const database = await testDatabase();
      const target = { database: `${uniquePrefix()}_x`, cluster: '' };
      await migrate(database, migrations, target);
      for (const migration of migrations)
        for (const statement of renderMigration(migration, target))
          await database.command(statement, {}, { name: 'again', priority: 'write' });
    });
  });
