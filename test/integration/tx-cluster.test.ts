import assert from 'node:assert/strict';
import { soleWriter } from '../../services/common/writer/fence.js';
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
    const steps: string[] = [];
    const step = (name: string) => async () => {
      steps.push(`${name} before ${commands.length}`);
    };
    await removeAbove(
      {
        ...{
          database: soleWriter(database),
          tables: tablesOf({ database: 'd_tx', cluster: 'big' }),
          fault: () => {},
        },
        ...{ begin: step('begin'), putHeadsRight: step('heads') },
      },
      nothing,
    );
    assert.equal(steps[0], 'begin before 0');
    assert.deepEqual(steps.slice(-2), ['begin before 8', 'heads before 8'], 'the items go last of all');
    assert.equal(commands.length, 9);
    const real = await testDatabase();
    for (const sql of commands) {
      assert.match(sql, /^DELETE FROM d_tx\.\w+_local ON CLUSTER 'big' WHERE /);
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:UInt64\}/g, '1')}`, {}, { name: 'parse' });
    }
  });
});
