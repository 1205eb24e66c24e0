import assert from 'node:assert/strict';
import { createLog } from '../../services/common/log.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { createRichlistStore } from '../../services/richlist/store/store.js';
import { testDatabase } from '../support/database.js';

describe('the richlist service on a cluster', () => {
  it('removes rows where they are, and not through a Distributed table', async () => {
    const commands: string[] = [];
    const real = await testDatabase();
    const above = ['blocks', 'checks', 'denoms', 'tokens', 'changes'];
    const database = {
      ...real,
      rows: async <T>(sql: string) => {
        if (/count\(\) AS n FROM d_richlist\.checks/.test(sql))
          return above.map((name) => ({ name, n: 1 })) as T[];
        if (/FROM d_richlist\.head/.test(sql))
          return [{ height: 5, hash: 'A', last_ord: 5, seed_height: 1, views: 'whole', rollbacks: 0 }] as T[];
        return [] as T[];
      },
      command: async (sql: string) => {
        commands.push(sql);
      },
      insert: async () => {},
    };
    const store = createRichlistStore({
      database: soleWriter(database),
      target: { database: 'd_richlist', cluster: 'big' },
      log: createLog('silent'),
      openSeed: async (height) => ({ height, async *balances() {} }),
      askBalances: async () => [],
      nameTokens: async () => new Map(),
    });
    await store.recover();
    const removals = commands.filter((sql) => sql.startsWith('DELETE'));
    assert.equal(removals.length, above.length);
    for (const sql of removals)
      assert.match(sql, /^DELETE FROM d_richlist\.\w+_local ON CLUSTER 'big' WHERE /);
    // Views are made of the facts of all shards.
    const repairs = commands.filter((sql) => sql.startsWith('INSERT'));
    assert.equal(repairs.length, 6);
    for (const sql of commands)
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:\w+\}/g, '1')}`, {}, { name: 'parse' });
  });
});
