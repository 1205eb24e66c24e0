import assert from 'node:assert/strict';
import { createLog } from '../../services/common/log.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { createNftStore } from '../../services/nft/store/store.js';
import { nftViews } from '../../services/nft/store/views.js';
import { testDatabase } from '../support/database.js';

/** Facts above the head, in the order in which they are removed. */
const above = [
  ...['blocks', 'changes', 'objects', 'contracts', 'classes', 'asks', 'jobs', 'token_uris', 'births'],
  ...['collection_names', 'account_history', 'history'],
];

describe('the nft service on a cluster', () => {
  it('removes rows where they are, and not through a Distributed table', async () => {
    const commands: string[] = [];
    const real = await testDatabase();
    const database = {
      ...real,
      rows: async <T>(sql: string) => {
        if (/count\(\) AS n FROM d_nft\.blocks/.test(sql))
          return above.map((name) => ({ name, n: 1 })) as T[];
        if (/FROM d_nft\.head/.test(sql))
          return [{ height: 5, hash: 'A', details: 7, views: 'whole', rollbacks: 0 }] as T[];
        return [] as T[];
      },
      command: async (sql: string) => {
        commands.push(sql);
      },
      insert: async () => {},
    };
    const store = createNftStore({
      database: soleWriter(database),
      target: { database: 'd_nft', cluster: 'big' },
      vm: 'wasm',
      log: createLog('silent'),
    });
    await store.recover();
    const removals = commands.filter((sql) => sql.startsWith('DELETE'));
    assert.deepEqual(
      removals.map((sql) => /^DELETE FROM d_nft\.(\w+)_local ON CLUSTER 'big' WHERE /.exec(sql)?.[1]),
      above,
    );
    // Views are made of the facts of all shards: of each what is gone, and what is there. One is about what to ask again.
    const repairs = commands.filter((sql) => sql.startsWith('INSERT'));
    assert.equal(repairs.length, 1 + 2 * nftViews.flatMap(({ views }) => views).length);
    for (const sql of commands) {
      assert.doesNotMatch(sql, /\{\{/);
      await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:\w+\}/g, '1')}`, {}, { name: 'parse' });
    }
  });
});
