import assert from 'node:assert/strict';
import { join } from 'node:path';
import { readMigrations, renderMigration } from '../../services/common/clickhouse/migrate.js';
import { packageRoot } from '../../services/common/paths.js';
import { testDatabase } from '../support/database.js';

const migrations = readMigrations(join(packageRoot, 'services/block/schema'));

for (const [form, cluster] of [
  ['one machine', ''],
  ['a cluster', 'main-1'],
] as const) {
  describe(`the tables of the block service, for ${form}`, () => {
    const statements = migrations.flatMap((migration) =>
      renderMigration(migration, { database: 'x_block', cluster }),
    );

    it('are accepted by the parser of the engine, every statement', async () => {
      const database = await testDatabase();
      assert.ok(statements.length >= 5);
      for (const statement of statements)
        await database.rows(`EXPLAIN AST ${statement}`, {}, { name: 'test' });
    });

    it('have no placeholder left, and are made once however often the migration runs', () => {
      for (const statement of statements) {
        assert.doesNotMatch(statement, /[{}]{2}/);
        assert.match(statement, /^CREATE TABLE IF NOT EXISTS x_block\./);
      }
    });

    it(
      cluster === ''
        ? 'name no cluster'
        : 'are all made on the cluster, replicated, with a table over the shards',
      () => {
        const made = statements.filter((statement) => statement.includes("ON CLUSTER 'main-1'"));
        const replicated = statements.filter((statement) =>
          /ENGINE = Replicated\w*MergeTree/.test(statement),
        );
        const over = statements.filter((statement) =>
          statement.includes("ENGINE = Distributed('main-1', 'x_block'"),
        );
        assert.equal(made.length, cluster === '' ? 0 : statements.length);
        assert.equal(replicated.length, cluster === '' ? 0 : statements.length / 2);
        assert.equal(over.length, cluster === '' ? 0 : statements.length / 2);
      },
    );
  });
}
