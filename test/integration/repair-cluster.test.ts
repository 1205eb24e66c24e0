import assert from 'node:assert/strict';
import type { Target } from '../../services/common/clickhouse/migrate.js';
import type { Cursor } from '../../services/common/consumer/consume.js';
import { createLog } from '../../services/common/runtime/log.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { createWriterHead, type RepairOptions } from '../../services/common/writer/repair.js';
import * as nft from '../../services/nft/store/cursor.js';
import * as nftTables from '../../services/nft/store/tables.js';
import { factsAbove as nftAbove, nftViews } from '../../services/nft/store/tables.js';
import * as richlist from '../../services/richlist/store/cursor.js';
import * as richlistTables from '../../services/richlist/store/tables.js';
import * as tx from '../../services/tx/store/cursor.js';
import * as txTables from '../../services/tx/store/tables.js';
import { testDatabase } from '../support/database.js';

const target: Target = { database: 'd_service', cluster: 'big' };

type Repaired<Position extends Cursor, Name extends string> = Pick<
  RepairOptions<Position, Name>,
  'tables' | 'head' | 'views' | 'above'
> & { readonly nothing: Position };

/** A repair on a cluster: everything above nothing is removed. @returns the statements that write. */
async function repairOn<Position extends Cursor, Name extends string>(
  options: Repaired<Position, Name>,
): Promise<string[]> {
  const commands: string[] = [];
  const real = await testDatabase();
  const database = {
    ...real,
    rows: async <T>(sql: string) =>
      (/count\(\) AS n/.test(sql) ? options.above.map(([name]) => ({ name, n: 1 })) : []) as T[],
    command: async (sql: string) => {
      commands.push(sql);
    },
    insert: async () => {},
  };
  const head = createWriterHead({
    ...options,
    database: soleWriter(database),
    fault: () => {},
    log: createLog('silent'),
  });
  await head.find(async () => ({ position: options.nothing, views: 'whole', rollbacks: 0 }));
  await head.repair(options.nothing);
  for (const sql of commands)
    await real.rows(`EXPLAIN AST ${sql.replaceAll(/\{\w+:\w+\}/g, '1')}`, {}, { name: 'parse' });
  return commands;
}

const txOnCluster = txTables.tablesOf(target);
const nftOnCluster = nftTables.tablesOf(target);
const richlistOnCluster = richlistTables.tablesOf(target);
const services: Readonly<
  Record<string, { readonly repair: () => Promise<string[]>; readonly views: number }>
> = {
  tx: {
    views: txTables.txViews.views.length,
    repair: () =>
      repairOn({
        ...{ tables: txOnCluster, head: txTables.headOf(txOnCluster) },
        ...{ views: [txTables.txViews], above: txTables.factsAbove, nothing: tx.nothing },
      }),
  },
  nft: {
    views: nftViews.flatMap(({ views }) => views).length,
    repair: () =>
      repairOn({
        ...{ tables: nftOnCluster, head: nftTables.headOf(nftOnCluster) },
        ...{ views: nftViews, above: nftAbove, nothing: nft.nothing },
      }),
  },
  richlist: {
    views: richlistTables.richlistViews.views.length,
    repair: () =>
      repairOn({
        ...{ tables: richlistOnCluster, head: richlistTables.headOf(richlistOnCluster) },
        ...{ views: [richlistTables.richlistViews], above: richlistTables.factsAbove },
        nothing: richlist.nothing,
      }),
  },
};

describe('a repair on a cluster', () => {
  for (const [name, { repair, views }] of Object.entries(services))
    it(`of ${name} removes rows where they are, after the views are made from the facts of all shards`, async () => {
      const commands = await repair();
      const [made, removed] = [commands.slice(0, 2 * views), commands.slice(2 * views)];
      for (const sql of made) {
        assert.match(sql, /^INSERT INTO d_service\.\w+ /);
        assert.doesNotMatch(sql, /_local/);
        assert.doesNotMatch(sql, /[^L] IN \(SELECT/, 'what stands on other shards counts too');
      }
      assert.ok(removed.length > 3);
      for (const sql of removed)
        assert.match(sql, /^DELETE FROM d_service\.\w+_local ON CLUSTER 'big' WHERE /);
    });
});
