import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { NftBlock } from '../../services/nft/decode/types.js';
import { answer } from '../../services/nft/enrich/outcome.js';
import { countJobs } from '../../services/nft/enrich/queue.js';
import { nftViews } from '../../services/nft/store/tables.js';
import { execute, query, uniquePrefix } from '../support/database.js';
import { grow } from '../support/grow.js';
import { checkWhole } from '../support/lists.js';
import { checkPast, checkTokenTxs, everyNftList } from '../support/nft-lists.js';
import { modelOf, randomNfts } from '../support/nft-model.js';
import { migrateNft, modelSource, type NftTables, newNft, openNft } from '../support/nft-tables.js';
import { viewDifferences } from '../support/views.js';

const options = { name: 'test.earlier' };

/** Facts that an earlier version has, as it has them. */
const facts = [
  'blocks',
  'changes',
  'history',
  'objects',
  'contracts',
  'births',
  'classes',
  'asks',
  'asked',
  'jobs',
];

/** Makes the tables of the version before, with what tables of today have, and with what their views would hold. */
async function makeEarlier(database: Database, from: string, to: string): Promise<void> {
  const earlier = readMigrations(join(packageRoot, 'services/nft/schema')).filter(
    ({ name }) => !name.startsWith('0007'),
  );
  await migrate(database, earlier, { database: `${to}_nft`, cluster: '' });
  const run = (sql: string) => execute(sql);
  for (const table of facts) await run(`INSERT INTO ${to}_nft.${table} SELECT * FROM ${from}_nft.${table}`);
  // What a merge has not dropped yet is still there.
  for (const suffix of [' of before', ''])
    await run(
      `INSERT INTO ${to}_nft.collections (collection, born_at, creator, name, origin_name, folded_name, folded_origin, timestamp, at, version, gone)
       SELECT s.collection, s.born_at, s.creator, concat(s.name, '${suffix}'), s.origin_name,
         concat(n.folded_name, '${suffix}'), n.folded_origin, s.timestamp, n.at, n.version - length('${suffix}'), false
       FROM ${from}_nft.shown_collections AS s
       INNER JOIN ${from}_nft.collection_names AS n ON n.collection = s.collection`,
    );
  await run(
    `INSERT INTO ${to}_nft.uris (collection, id_key, uri, at, version)
     SELECT collection, id_key, uri, if(is_void, 0, at), version FROM ${from}_nft.token_uris`,
  );
  await run(
    `INSERT INTO ${to}_nft.items (list, scope, height, id_key, collection, at) VALUES (1, 'x', 0, '1y', 'z', 1)`,
  );
}

describe('tables of NFTs of an earlier version', () => {
  let database: Database;
  let first: string;
  const blocks: NftBlock[] = [];

  before(async () => {
    const tables = await newNft({ vm: 'evm' });
    ({ database, prefix: first } = tables);
    const chain = randomNfts(21);
    for (let batch = 0; batch < 3; batch++) {
      await tables.store.writeBlocks(grow(chain, blocks, 8));
      await tables.learn({
        ...modelSource,
        uris: async (some) =>
          some.map(({ token_id }) => answer(token_id === '1' ? undefined : `uri ${token_id}`)),
      });
    }
  });

  /** A copy of the tables as the earlier version leaves them, with the new tables beside. */
  const earlier = async (): Promise<string> => {
    const prefix = uniquePrefix();
    await makeEarlier(database, first, prefix);
    await migrateNft(database, prefix);
    return prefix;
  };

  const contents = (prefix: string, table: string, columns: string, rest = ''): Promise<unknown[]> =>
    database.rows(
      `SELECT ${columns} FROM (SELECT * FROM ${prefix}_nft.${table} ${rest}) ORDER BY ALL`,
      {},
      options,
    );

  const factsOf = (prefix: string) =>
    Promise.all([
      contents(prefix, 'account_history', 'account, collection, id_key, at, change'),
      // Only the last one was kept.
      contents(
        prefix,
        'token_uris',
        'collection, id_key, uri, is_void, if(is_void, 0, at) AS asked_at, version',
        'ORDER BY version DESC LIMIT 1 BY collection, id_key',
      ),
      contents(
        prefix,
        'collection_names',
        'collection, name, origin_name, folded_name, version',
        'ORDER BY version DESC LIMIT 1 BY collection',
      ),
    ]);

  const viewsOf = async (prefix: string) =>
    Promise.all(
      ['token_states', 'token_lists', 'token_counts', 'shown_collections', 'collection_list'].map((view) =>
        contents(prefix, `${view} FINAL`, '* EXCEPT (version, epoch)'),
      ),
    );

  const checkAll = async (tables: NftTables, to: readonly NftBlock[]): Promise<void> => {
    const position = { ...tables.store.position };
    const environment = { of: tables.index.tables.of, position, name: 'test', atOnce: 50 };
    assert.deepEqual(await viewDifferences(database, environment, nftViews), []);
    const state = modelOf(to);
    await checkTokenTxs(tables, state);
    await checkPast(tables, to, Math.ceil(to.length / 2));
  };

  it('are taken over, with every row as it would be today, and go on', async () => {
    const prefix = await earlier();
    const tables = await openNft(database, prefix, { vm: 'evm' });
    assert.equal((await tables.store.recover()).height, blocks.length);
    assert.deepEqual(await factsOf(prefix), await factsOf(first));
    assert.deepEqual(await viewsOf(prefix), await viewsOf(first));
    // Those that still serve the tables of before say that these stand still.
    const [cut] = await query<{ number: number }>(`SELECT max(number) AS number FROM ${prefix}_nft.cuts`);
    assert.equal((cut?.number ?? 0) % 2, 1);
    await checkAll(tables, blocks);
    const [chain, own] = [randomNfts(22), [...blocks]];
    await tables.store.writeBlocks(grow(chain, own, 3));
    await tables.learn();
    await tables.store.unwind(10);
    own.length = 10;
    // What has a name keeps it: it is asked for again.
    const lists = everyNftList(tables, modelOf(own)).filter(({ name }) => name.startsWith('collection'));
    assert.ok((await countJobs(database, tables.index.tables)).pending > 0);
    const all = { key: '', offset: 0, limit: 1000, count_total: true, reverse: false };
    for (const list of lists)
      assert.equal((await list.read(all)).pagination.total, String(list.items.length), list.name);
    await tables.learn();
    for (const list of lists.filter(({ name }) => name === 'collections')) await checkWhole(list);
    await checkAll(tables, own);
  });

  it('are taken over whatever is interrupted', async () => {
    const expected = [await factsOf(first), await viewsOf(first)];
    const points = new Set<string>();
    for (let kill = 0, isDone = false; !isDone; kill++) {
      const prefix = await earlier();
      let left = kill;
      const fault = (point: string): void => {
        points.add(point);
        left -= 1;
        if (left < 0) throw new Error('killed');
      };
      let tables = await openNft(database, prefix, { fault, vm: 'evm' });
      isDone = await tables.store.recover().then(
        () => true,
        () => false,
      );
      // Killed a second time a little later, and then left alone.
      left = kill + 2;
      tables = await openNft(database, prefix, { fault, vm: 'evm' });
      await tables.store.recover().catch(() => undefined);
      left = Number.POSITIVE_INFINITY;
      tables = await openNft(database, prefix, { fault, vm: 'evm' });
      assert.equal((await tables.store.recover()).height, blocks.length);
      assert.deepEqual([await factsOf(prefix), await viewsOf(prefix)], expected, `killed at ${kill}`);
    }
    assert.ok(points.size > 8, [...points].join(', '));
  });

  it('are taken over at the height that a rollback of the earlier version was cut off on its way to', async () => {
    const prefix = await earlier();
    await execute(`INSERT INTO ${prefix}_nft.cuts (number, height, top) VALUES (1, 12, ${blocks.length})`);
    const tables = await openNft(database, prefix, { vm: 'evm' });
    assert.equal((await tables.store.recover()).height, 12);
    await checkAll(tables, blocks.slice(0, 12));
  });
});
