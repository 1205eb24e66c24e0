import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrateAll } from '../../tools/migrate/migrate.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { readFacts } from '../support/facts.js';
import { type Stack, startStack } from '../support/stack.js';
import { withPrivileges } from '../support/statements.js';

describe('with accounts of ClickHouse that may do no more than they have to', function () {
  this.timeout(120_000);
  const { height, txs } = readFacts('evm');
  const prefix = uniquePrefix();
  const env = { CLICKHOUSE_DATABASE: prefix, MIGRATIONS: 'check' };
  let database: Database;
  let node: ReplayNode;
  const running: Stack[] = [];

  before(async () => {
    database = await testDatabase();
    node = await startReplayNode({ recording: 'evm' });
    for await (const _ of migrateAll(database, { CLICKHOUSE_DATABASE: prefix, CLICKHOUSE_CLUSTER: '' }));
  });
  after(async () => {
    for (const stack of running) await stack.stop();
    await node.close();
  });

  async function start(role: string, own: Database): Promise<Stack> {
    const stack = await startStack(node, { env: { ...env, ROLE: role }, database: own });
    running.push(stack);
    return stack;
  }

  it('what ingests reads, inserts and removes rows, in a rollback too, and makes no tables', async () => {
    const { database: own, used, refused } = withPrivileges(database, ['SELECT', 'INSERT', 'ALTER DELETE']);
    const stack = await start('ingest', own);
    await stack.reaches(height, true);
    await stack.knowsNfts(height);
    const hash = async () =>
      (await stack.get<{ block: { hash: string } }>(`/indexer/block/v1/blocks/${height}`)).block.hash;
    const before = await hash();
    node.fork(height - 5, { keep_txs: true, tip: height + 2 });
    await eventually(async () => (await hash().catch(() => before)) !== before, 'the rollback', 30_000);
    await stack.reaches(height + 2, true);
    await stack.knowsNfts(height + 2);
    assert.deepEqual(refused, []);
    assert.deepEqual([...used].sort(), ['ALTER DELETE', 'INSERT', 'SELECT']);
  });

  it('what serves reads, and does nothing else', async () => {
    const { database: own, used, refused } = withPrivileges(database, ['SELECT']);
    const stack = await start('serve', own);
    await stack.reaches(height, true);
    const tx = txs[0];
    const { collections } = await stack.get<{ collections: { object_addr: string }[] }>(
      '/indexer/nft/v1/collections',
    );
    const collection = collections[0]?.object_addr as string;
    const account = readFacts('evm').holders?.[Object.keys(readFacts('evm').holders ?? {})[0] as string]?.[0]
      ?.account as string;
    for (const path of [
      '/status',
      ...['blocks', `blocks/${height}`, 'avg_blocktime'].map((one) => `/indexer/block/v1/${one}`),
      ...['txs', `txs/${tx?.hash}`, `txs/by_height/${tx?.height}`].map((one) => `/indexer/tx/v1/${one}`),
      ...[`txs/by_account/${account}`, 'evm-txs', 'evm-internal-txs'].map((one) => `/indexer/tx/v1/${one}`),
      ...[`collections/${collection}`, `tokens/by_collection/${collection}`].map(
        (one) => `/indexer/nft/v1/${one}`,
      ),
    ])
      await stack.get(path);
    assert.deepEqual(refused, []);
    assert.deepEqual([...used], ['SELECT']);
  });

  it('tells what would write', async () => {
    const { database: own, refused } = withPrivileges(database, ['SELECT']);
    await assert.rejects(own.insert('a.b', '{}', { name: 'test' }), /not enough privileges/);
    await assert.rejects(own.command('DROP TABLE a.b', {}, { name: 'test' }), /not enough privileges/);
    assert.equal(refused.length, 2);
  });
});
