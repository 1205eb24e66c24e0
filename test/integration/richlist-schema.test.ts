import assert from 'node:assert/strict';
import { join } from 'node:path';
import { migrate, readMigrations, renderMigration } from '../../services/common/clickhouse/migrate.js';
import { packageRoot } from '../../services/common/paths.js';
import { nothing } from '../../services/richlist/store/cursor.js';
import { createRanks } from '../../services/richlist/store/ranks.js';
import { cutAbove } from '../../services/richlist/store/remove.js';
import { tablesOf } from '../../services/richlist/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';

describe('the schema of the richlist service', () => {
  const migrations = readMigrations(join(packageRoot, 'services/richlist/schema'));
  const parse = { name: 'parse' };

  it('is understood by the engine, on one machine and on a cluster', async () => {
    const database = await testDatabase();
    const forms = ['', 'big'].map((cluster) =>
      migrations.flatMap((migration) => renderMigration(migration, { database: 'd_richlist', cluster })),
    );
    for (const statement of forms.flat()) await database.rows(`EXPLAIN AST ${statement}`, {}, parse);
    const [single, clustered] = forms as [string[], string[]];
    assert.equal(clustered.length, 2 * single.length, 'a cluster has a Distributed table for each');
    for (const statement of clustered) {
      assert.match(statement, /ON CLUSTER 'big'/);
      assert.match(
        statement,
        /ENGINE = (Replicated\w*MergeTree\b|Distributed\('big', 'd_richlist', '\w+_local', )/,
      );
    }
    for (const statement of single) assert.doesNotMatch(statement, /CLUSTER|_local|Replicated|Distributed/);
  });

  it('is made once', async () => {
    const database = await testDatabase();
    const target = { database: `${uniquePrefix()}_richlist`, cluster: '' };
    const names = migrations.map(({ name }) => name);
    assert.deepEqual(await migrate(database, migrations, target), names);
    assert.deepEqual(await migrate(database, migrations, target), []);
  });

  it('has its rows removed where they are: not through a Distributed table', async () => {
    const commands: string[] = [];
    const database = {
      ...(await testDatabase()),
      rows: async <T>() => [{ n: 1, token: 'a', account: 'b', ord: 0, balance: '0', last: 1 }] as T[],
      command: async (sql: string) => {
        commands.push(sql);
      },
    };
    const tables = tablesOf({ database: 'd_richlist', cluster: 'big' });
    const ranks = createRanks(database, tables, 8);
    const insert = async (): Promise<void> => {};
    await cutAbove({ database, tables, ranks, fault: () => {}, insert }, { ...nothing, last_ord: 5 });
    assert.equal(commands.length, 9);
    const real = await testDatabase();
    for (const sql of commands) {
      assert.match(sql, /^DELETE FROM d_richlist\.\w+_local ON CLUSTER 'big' WHERE /);
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:\w+\}/g, '1')}`, {}, parse);
    }
  });
});
