import assert from 'node:assert/strict';
import { soleWriter } from '../../services/common/writer/fence.js';
import { nothing } from '../../services/richlist/store/cursor.js';
import { createRanks } from '../../services/richlist/store/ranks.js';
import { cutAbove } from '../../services/richlist/store/remove.js';
import { copiedTables, tablesOf } from '../../services/richlist/store/tables.js';
import { testDatabase } from '../support/database.js';

describe('the richlist service on a cluster', () => {
  it('removes rows where they are: not through a Distributed table', async () => {
    const commands: string[] = [];
    const database = {
      ...(await testDatabase()),
      rows: async <T>() =>
        copiedTables.map((name) => ({
          name,
          n: 1,
          token: 'a',
          account: 'b',
          ord: 0,
          balance: '0',
          last: 1,
        })) as T[],
      command: async (sql: string) => {
        commands.push(sql);
      },
    };
    const tables = tablesOf({ database: 'd_richlist', cluster: 'big' });
    const ranks = createRanks(database, tables, 8);
    const insert = async (): Promise<void> => {};
    await cutAbove(
      { database: soleWriter(database), tables, ranks, fault: () => {}, begin: async () => {}, insert },
      { ...nothing, last_ord: 5 },
    );
    assert.equal(commands.length, 9);
    const real = await testDatabase();
    for (const sql of commands) {
      assert.match(sql, /^DELETE FROM d_richlist\.\w+_local ON CLUSTER 'big' WHERE /);
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:\w+\}/g, '1')}`, {}, { name: 'parse' });
    }
  });
});
