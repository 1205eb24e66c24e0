import assert from 'node:assert/strict';
import { nothing } from '../../services/tx/store/cursor.js';
import { aboveCursor, removeAbove } from '../../services/tx/store/remove.js';
import { tablesOf } from '../../services/tx/store/tables.js';
import { testDatabase } from '../support/database.js';

describe('the tx service on a cluster', () => {
  it('removes rows where they are: not through a Distributed table', async () => {
    const commands: string[] = [];
    const database = {
      ...(await testDatabase()),
      rows: async <T>() => aboveCursor.map(([name]) => ({ name, n: 1 })) as T[],
      command: async (sql: string) => {
        commands.push(sql);
      },
    };
    await removeAbove(database, tablesOf({ database: 'd_tx', cluster: 'big' }), nothing, () => {});
    assert.equal(commands.length, 9);
    const real = await testDatabase();
    for (const sql of commands) {
      assert.match(sql, /^DELETE FROM d_tx\.\w+_local ON CLUSTER 'big' WHERE /);
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:UInt64\}/g, '1')}`, {}, { name: 'parse' });
    }
  });
});
