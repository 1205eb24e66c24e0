import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { BlockMaterial, type RawBlock } from '../../services/common/gen/indexer/block/v1/block.js';
import { TxServiceClient, type WatchHeadResponse } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { callRpc, connectRpc, streamRpc } from '../../services/common/rpc/client.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { ServiceProcess } from '../../services/common/runtime/service.js';
import { txSettings } from '../../services/tx/config.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import { startTx } from '../../services/tx/main.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { ask, stream } from '../support/rpc.js';
import { endsAfterEach } from '../support/suite.js';
import { type BlockSource, startBlockSource } from '../support/tx-block-source.js';

const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };

describe('the tx service', () => {
  const endLater = endsAfterEach();

  async function source(options: Parameters<typeof startBlockSource>[0] = {}): Promise<BlockSource> {
    const started = await startBlockSource(options);
    endLater(() => started.close());
    return started;
  }

  async function start(
    blocks: BlockSource,
    env: Record<string, string> = {},
  ): Promise<{ tx: ServiceProcess; client: TxServiceClient; stop(): Promise<void> }> {
    const tx = await startTx({
      config: loadSettings(txSettings, {
        CLICKHOUSE_DATABASE: uniquePrefix(),
        BLOCK_SERVICE_ADDR: blocks.address,
        SHUTDOWN_GRACE_MS: '500',
        ...env,
      }),
      database: await testDatabase(),
      log: createLog('silent'),
      metrics: createMetrics(),
      addresses: ['127.0.0.1:0'],
    });
    const client = connectRpc(TxServiceClient, tx.address);
    const stop = endLater(async () => {
      client.close();
      await tx.stop();
    });
    return { tx, client, stop };
  }

  const statusOf = (client: TxServiceClient) => ask(client).getStatus({});
  const reaches = (client: TxServiceClient, height: number, internal = 0) =>
    eventually(async () => {
      const answer = await statusOf(client);
      return answer.height === height && answer.internal_tx_height === internal;
    }, `heights ${height} and ${internal}`);
  const decoded = (blocks: readonly RawBlock[]) =>
    blocks.map((block) =>
      decodeBlock(block, BlockMaterial.decode(gunzipSync(block.material)), {
        vm: 'evm',
        account_prefix: 'init',
      }),
    );
  const bodiesOf = (bodies: readonly Uint8Array[]) =>
    bodies.map((body) => Buffer.from(body).toString()).reverse();

  /** Compares all txs and receipts with what decoding the source's blocks gives. */
  async function expectChain(client: TxServiceClient, blocks: BlockSource): Promise<void> {
    const expected = decoded(blocks.blocks);
    const txs = await ask(client).listTxs({ msgs: [], pagination: page });
    assert.deepEqual(
      bodiesOf(txs.txs),
      expected.flatMap((block) => block.txs.map(({ body }) => body)),
    );
    const receipts = await ask(client).listEvmTxs({ pagination: page });
    assert.deepEqual(
      bodiesOf(receipts.txs),
      expected.flatMap((block) => block.evm_txs.map(({ body }) => body)),
    );
  }

  const fails = async (call: Promise<unknown>, code: status, words: RegExp): Promise<void> => {
    await assert.rejects(
      call,
      (error) => error instanceof RpcError && error.code === code && words.test(error.message),
    );
  };

  it('answers calls, and writes nothing more, once it is told to stop writing', async () => {
    const blocks = await source();
    blocks.grow(12);
    const { tx, client, stop } = await start(blocks);
    await reaches(client, 12);
    tx.stopWriting?.();
    blocks.grow(5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal((await statusOf(client)).height, 12);
    await stop();
  });

  it('follows the block service, over broken streams and restarts', async () => {
    const blocks = await source();
    const env = { CLICKHOUSE_DATABASE: uniquePrefix() };
    blocks.grow(12);
    const first = await start(blocks, env);
    await reaches(first.client, 12);
    blocks.breakStreams();
    blocks.grow(5);
    await reaches(first.client, 17);
    assert.deepEqual(first.tx.readiness(), { ready: true, reason: '' });
    await first.stop();
    blocks.grow(3);
    const second = await start(blocks, env);
    assert.equal((await statusOf(second.client)).height >= 17, true, 'what was indexed is served at once');
    await reaches(second.client, 20);
    await expectChain(second.client, blocks);
  });

  it('unwinds when the chain is rolled back, and tells those who watch', async () => {
    const blocks = await source();
    blocks.grow(10);
    blocks.trace(10);
    const env = { CLICKHOUSE_DATABASE: uniquePrefix() };
    const { client } = await start(blocks, env);
    await reaches(client, 10, 10);
    const reader = await start(blocks, { ...env, ROLE: 'serve' });
    await reaches(reader.client, 10, 10);

    const stopWatching = new AbortController();
    const heads: WatchHeadResponse[] = [];
    const watching = (async () => {
      for await (const head of stream(client).watchHead({}, { signal: stopWatching.signal }))
        heads.push(head);
    })();
    const otherHeads: WatchHeadResponse[] = [];
    const watchingToo = (async () => {
      const watch = reader.client.watchHead.bind(reader.client);
      for await (const head of streamRpc(watch, {}, { signal: stopWatching.signal })) otherHeads.push(head);
    })();
    await eventually(() => heads.length > 0 && otherHeads.length > 0, 'a first head');
    await expectChain(reader.client, blocks);

    blocks.cutTo(6);
    blocks.grow(8, 'b');
    await reaches(client, 14, 6);
    blocks.trace(14);
    await reaches(client, 14, 14);
    await expectChain(client, blocks);
    await reaches(reader.client, 14, 14);
    await expectChain(reader.client, blocks);
    assert.ok(new Set(heads.map(({ revision }) => revision)).size > 1, 'the revision changes');
    assert.ok(new Set(otherHeads.map(({ revision }) => revision)).size > 1, 'that of the other process too');
    stopWatching.abort();
    await Promise.all([watching, watchingToo]);
  });

  it('writes internal txs behind the txs, and only those of blocks it has', async () => {
    const blocks = await source();
    blocks.grow(60);
    const { client } = await start(blocks);
    await reaches(client, 60, 0);
    blocks.trace(20);
    await reaches(client, 60, 20);
    const all = await ask(client).listEvmInternalTxs({ pagination: page });
    assert.ok(all.internal_txs.length > 0, 'there are call frames');
    const frames = all.internal_txs.map(
      (frame) => JSON.parse(Buffer.from(frame).toString()) as { hash: string },
    );
    const hash = frames[0]?.hash ?? '';
    const ofHash = await ask(client).listEvmInternalTxsByHash({ tx_hash: hash, pagination: page });
    assert.equal(ofHash.pagination?.total, String(frames.filter((frame) => frame.hash === hash).length));
    blocks.trace(40, true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await statusOf(client)).internal_tx_height, 20, 'traces of other blocks wait');
    blocks.cutTo(60);
  });

  it('goes on without internal txs where there are no traces', async () => {
    const blocks = await source({ traced: false });
    blocks.grow(60);
    const { client } = await start(blocks);
    await reaches(client, 60, 0);
    const { internal_txs, pagination } = await ask(client).listEvmInternalTxs({ pagination: page });
    assert.deepEqual([internal_txs, pagination?.total], [[], '0']);
    const receipts = await ask(client).listEvmTxs({ pagination: page });
    const { transactionHash } = JSON.parse(Buffer.from(receipts.txs[0] ?? []).toString()) as {
      transactionHash: string;
    };
    const ofHash = await ask(client).listEvmInternalTxsByHash({ tx_hash: transactionHash, pagination: page });
    assert.deepEqual(ofHash.internal_txs, []);
  });

  it('keeps Cosmos and Ethereum hashes apart, and knows what it does not know', async () => {
    const blocks = await source();
    blocks.grow(60);
    const { client } = await start(blocks);
    await reaches(client, 60);
    const chain = decoded(blocks.blocks);
    const tx = chain.flatMap((block) => block.txs)[3];
    const receipt = chain.flatMap((block) => block.evm_txs)[3];
    assert.ok(tx !== undefined && receipt !== undefined);
    const [getTx, getEvmTx] = [client.getTx.bind(client), client.getEvmTx.bind(client)];
    for (const tx_hash of [tx.hash, `0x${tx.hash}`, tx.hash.toUpperCase(), `0X${tx.hash.toUpperCase()}`]) {
      assert.equal(Buffer.from((await callRpc(getTx, { tx_hash })).tx).toString(), tx.body);
    }
    assert.equal(
      Buffer.from((await callRpc(getEvmTx, { tx_hash: receipt.hash })).tx).toString(),
      receipt.body,
    );
    await fails(callRpc(getTx, { tx_hash: receipt.hash }), status.NOT_FOUND, /is not indexed/);
    await fails(callRpc(getEvmTx, { tx_hash: tx.hash }), status.NOT_FOUND, /is not indexed/);
    const framesOf = client.listEvmInternalTxsByHash.bind(client);
    await fails(
      callRpc(framesOf, { tx_hash: tx.hash, pagination: page }),
      status.NOT_FOUND,
      /is not indexed/,
    );
    for (const tx_hash of ['', 'abc', `${tx.hash}0`, `0x0x${tx.hash.slice(4)}`, `${tx.hash.slice(1)}g`]) {
      await fails(callRpc(getTx, { tx_hash }), status.INVALID_ARGUMENT, /tx_hash/);
    }
  });

  it('names the parameter that is wrong', async () => {
    const blocks = await source();
    blocks.grow(40);
    const { client } = await start(blocks);
    await reaches(client, 40);
    const list = (request: Partial<typeof page>) =>
      ask(client).listTxs({ msgs: [], pagination: { ...page, ...request } });
    for (const limit of [0, 1001]) await fails(list({ limit }), status.INVALID_ARGUMENT, /pagination\.limit/);
    await fails(
      ask(client).listTxs({ msgs: [], pagination: undefined }),
      status.INVALID_ARGUMENT,
      /pagination/,
    );
    const byAccount = (account: string, key = '') =>
      ask(client).listTxsByAccount({
        account,
        is_signer: false,
        msgs: ['a.b'],
        pagination: { ...page, key },
      });
    for (const account of ['', '0x', 'init1qqq', `0x${'1'.repeat(65)}`, 'cosmos1abc']) {
      await fails(byAccount(account), status.INVALID_ARGUMENT, /account/);
    }
    const { pagination } = await list({ limit: 1 });
    const key = pagination?.next_key ?? '';
    assert.notEqual(key, '');
    await fails(byAccount('0x1', key), status.INVALID_ARGUMENT, /pagination\.key/);
    for (const wrong of ['x', `${key}!`, `${key}.MQ`, key.slice(0, 9), `${key.slice(0, 9)}YWJj`, '%00']) {
      await fails(list({ key: wrong }), status.INVALID_ARGUMENT, /pagination\.key/);
    }
    assert.deepEqual((await byAccount('0x1')).txs, []);
    assert.deepEqual((await list({ offset: Number.MAX_SAFE_INTEGER })).txs, []);
  });

  it('has no EVM txs on other rollups', async () => {
    const blocks = await source({ vm_type: 'move' });
    const { client } = await start(blocks, { VM_TYPE: 'move' });
    const tx_hash = 'a'.repeat(64);
    await fails(ask(client).getEvmTx({ tx_hash }), status.UNIMPLEMENTED, /move/);
    await fails(ask(client).listEvmTxs({ pagination: page }), status.UNIMPLEMENTED, /move/);
    await fails(ask(client).listEvmInternalTxs({ pagination: page }), status.UNIMPLEMENTED, /move/);
  });

  it('answers before anything is indexed', async () => {
    const blocks = await source();
    const { client } = await start(blocks);
    assert.deepEqual(await statusOf(client), { height: 0, internal_tx_height: 0, hash: '' });
    const { txs, pagination } = await ask(client).listTxs({ msgs: ['a.v1.B'], pagination: page });
    assert.deepEqual([txs, pagination?.total], [[], '0']);
  });

  it('refuses the blocks of another chain, and says so', async () => {
    const env = { CLICKHOUSE_DATABASE: uniquePrefix() };
    const ours = await source();
    ours.grow(4);
    const first = await start(ours, env);
    await reaches(first.client, 4);
    await first.stop();
    const other = await source({ chain_id: 'chain-2' });
    other.grow(2, 'b');
    const second = await start(other, env);
    await eventually(() => /chain-2/.test(second.tx.readiness().reason), 'the reason');
    assert.equal(second.tx.readiness().ready, false);
    assert.equal((await statusOf(second.client)).height, 4, 'what is there is kept and served');
  });

  it('stops in the middle of its work without harm', async () => {
    const blocks = await source();
    const env = { CLICKHOUSE_DATABASE: uniquePrefix() };
    blocks.grow(80);
    for (let attempt = 0; attempt < 3; attempt++) {
      const { stop } = await start(blocks, env);
      await new Promise((resolve) => setTimeout(resolve, 30 * attempt));
      await stop();
    }
    const { client } = await start(blocks, env);
    await reaches(client, 80);
    await expectChain(client, blocks);
  });
});
