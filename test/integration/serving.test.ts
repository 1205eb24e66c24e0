import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Call, Database, Params } from '../../services/common/clickhouse/database.js';
import { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { serveRpc } from '../../services/common/rpc/server.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByCollection } from '../../services/nft/read/token-lists.js';
import { balanceAt, changesBetween, holdersAt, momentOf } from '../../services/richlist/read/history.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import { richlistService } from '../../services/richlist/rpc.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { modelOf, randomNfts } from '../support/nft-model.js';
import { newNft, openNft } from '../support/nft-tables.js';
import { holdersOf, modelChain, modelGenesis, modelTokens } from '../support/richlist-model.js';
import { openTestRichlist, seedOf } from '../support/richlist-tables.js';
import { ask } from '../support/rpc.js';
import { thoroughIt } from '../support/sample.js';
import { startBefore } from '../support/suite.js';

const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };
const isAborted = (error: unknown) => error instanceof RpcError && error.code === status.ABORTED;

async function all<T>(batches: AsyncIterable<T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

describe('a process that only serves', function () {
  this.timeout(120_000);
  const database = startBefore(testDatabase);

  /** The blocks of a chain, what writes them, and what another process has of the first `written` ones. */
  async function richlistOf(seed: number, length: number, written: number) {
    const prefix = uniquePrefix();
    const chain = modelChain(seed, modelGenesis());
    const blocks = [chain.next(undefined)];
    while (blocks.length < length) blocks.push(chain.next(blocks.at(-1)));
    const truth = blocks[0]?.truth ?? new Map();
    const { store } = await openTestRichlist(database, prefix, {
      openSeed: async (height) => ({ height, balances: () => seedOf(truth) }),
    });
    await store.recover();
    await store.writeBlocks(blocks.slice(0, written));
    const { index } = await openTestRichlist(database, prefix);
    return { blocks, store, index };
  }

  it('follows the rich list of another one, and answers about the past of one chain only', async () => {
    const { blocks, store, index } = await richlistOf(31, 30, 20);
    const reader = { ...index.reader, look: index.look };
    const token = modelTokens[0] as string;
    const moment = momentOf(reader, 20, 20);
    const before = await all(holdersAt(reader, token, moment, {}));
    assert.ok(before.length > 0);

    // More blocks change nothing about the past; what is shown moves with them.
    await store.writeBlocks(blocks.slice(20));
    assert.deepEqual(await all(holdersAt(reader, token, moment, {})), before);
    assert.equal(index.head.position.height, 30);
    const ours = await listHolders(reader, token, page, {});
    assert.deepEqual(ours.items, (await listHolders(reader, token, page, {})).items);

    // The head has not been looked at since: the rows that are gone are not taken for nothing.
    const { revision } = index.head;
    const top = momentOf(reader, 1, 30);
    await store.unwind(5);
    await assert.rejects(all(holdersAt(reader, token, top, {})), isAborted);
    assert.ok(index.head.revision > revision);
    assert.equal(index.head.position.height, 5);
    await assert.rejects(all(changesBetween(reader, token, top, {})), isAborted);
    await assert.rejects(balanceAt(reader, token, 'a'.repeat(40), top, {}), isAborted);
    const again = momentOf(reader, 5, 5);
    assert.ok((await all(holdersAt(reader, token, again, {}))).length > 0);
  });

  it('tells the changes of an account that has very many of them in several messages', async () => {
    const { index } = await richlistOf(32, 5, 5);
    const { tables } = index;
    const [token, count] = ['f'.repeat(40), 12_000];
    for (const [account, n] of [
      ['a', 10],
      ['b', count],
      ['c', 10],
    ] as const)
      await database.command(
        `INSERT INTO ${tables.of('changes')} (token, account, ord, height, amount, source)
         SELECT '${token}', '${account.repeat(40)}', number + 1, 1 + number % 5, number, 'log' FROM numbers(${n})`,
        {},
        { name: 'fill' },
      );
    const moment = momentOf(index.reader, 2, 4);
    const upTo = { ...moment, position: { ...moment.position, last_ord: count } };
    const told: string[] = [];
    for await (const some of changesBetween(index.reader, token, upTo, {})) {
      assert.ok(some.length <= 5_000, `${some.length} changes`);
      told.push(...some.map(({ account, height, amount }) => `${account[2]} ${height} ${amount}`));
    }
    const expected = (account: string, n: number) =>
      Array.from({ length: n }, (_, index) => `${account} ${1 + (index % 5)} ${index}`);
    const all = [...expected('a', 10), ...expected('b', count), ...expected('c', 10)];
    assert.deepEqual(
      told,
      all.filter((change) => !/^. [15] /.test(change)),
    );
  });

  thoroughIt(
    'never answers with a list of two chains, when it is rolled back between two statements',
    async () => {
      const { blocks, store, index } = await richlistOf(33, 25, 25);
      // The rollback comes after the total is read, and before the holders are.
      let rollsBack = false;
      const treacherous: Database = {
        ...database,
        async rows<T>(sql: string, params: Params, options: Call & { name: string }): Promise<T[]> {
          if (options.name === 'richlist.places' && rollsBack) {
            rollsBack = false;
            await store.unwind(4);
          }
          return database.rows<T>(sql, params, options);
        },
      };
      const { look } = index;
      const reader = { ...index.reader, database: treacherous, look };
      const service = richlistService({
        ...{ log: createLog('silent'), metrics: createMetrics(), reader: () => reader },
        ...{ vm_type: 'evm', account_prefix: 'init', stopping: new AbortController().signal },
      });
      const server = await serveRpc([service], ['127.0.0.1:0']);
      const client = connectRpc(RichlistServiceClient, server.address);
      try {
        for (const token of modelTokens) {
          await store.writeBlocks(blocks.slice(store.position.height));
          await look();
          rollsBack = true;
          const request = { denom: `0x${token}`, pagination: page };
          const { holders, pagination } = await ask(client).listHolders(request);
          assert.equal(rollsBack, false);
          const expected = holdersOf(blocks[3]?.truth ?? new Map(), token);
          assert.equal(pagination?.total, String(holders.length));
          if (modelTokens.indexOf(token) < 2) assert.deepEqual(holders, expected);
        }
      } finally {
        client.close();
        await server.close(100);
      }
    },
  );

  thoroughIt('shows the collections that another one learns of, and its lists after a rollback', async () => {
    const writer = await newNft();
    const chain = randomNfts(5);
    const blocks = [chain.next(undefined)];
    while (blocks.length < 40) blocks.push(chain.next(blocks.at(-1)));
    await writer.store.writeBlocks(blocks.slice(0, 25));
    const { index } = await openNft(database, writer.prefix);
    const { look } = index;
    await look();

    /** Every list of a collection here and where they are written. */
    const compare = async (count: number): Promise<number> => {
      await look();
      let shown = 0;
      for (const collection of modelOf(blocks.slice(0, count)).births.keys())
        for (const order of ['token_id', 'height'] as const) {
          const query = { token_id: '', order, page };
          const ours = await listTokensByCollection(startReading(index.reader, {}), collection, query);
          const theirs = await listTokensByCollection(
            startReading(writer.index.reader, {}),
            collection,
            query,
          );
          assert.deepEqual(ours, theirs);
          shown += ours.items.length;
        }
      return shown;
    };
    // Nothing has a name yet; then all have, without a new block.
    assert.equal(await compare(25), 0);
    await writer.learn();
    assert.ok((await compare(25)) > 0);
    await writer.store.writeBlocks(blocks.slice(25));
    await writer.learn();
    await compare(40);
    await writer.store.unwind(12);
    await writer.learn();
    const { rollbacks } = index.head;
    await compare(12);
    assert.ok(index.head.rollbacks > rollbacks);
    await writer.store.writeBlocks(blocks.slice(12, 30));
    await writer.learn();
    assert.ok((await compare(30)) > 0);
  });
});
