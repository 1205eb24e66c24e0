import assert from 'node:assert/strict';
import { UserError } from '../../services/common/runtime/errors.js';
import { freePort } from '../../tools/bench/processes.js';
import { type HostileNode, startHostileNode } from '../support/attack/hostile-node.js';
import { blockStarters, eventually, type TestBlock } from '../support/block.js';
import { uniquePrefix } from '../support/database.js';
import { ask, stream } from '../support/rpc.js';
import { endsAfterEach } from '../support/suite.js';

describe('the block service and its chain', () => {
  const endLater = endsAfterEach();
  const { startNode, start } = blockStarters(endLater);
  const startHostile = async (...args: Parameters<typeof startHostileNode>): Promise<HostileNode> => {
    const hostile = await startHostileNode(...args);
    endLater(hostile.close);
    return hostile;
  };
  const chainOf = async (block: TestBlock): Promise<string> =>
    (await ask(block.client).getStatus({})).chain_id;
  const reason = (block: TestBlock): string => {
    const { ready, reason } = block.service.readiness();
    assert.equal(ready, reason === '');
    return reason;
  };

  it('leaves no trace of a CHAIN_ID that the node does not confirm, and says what is wrong', async () => {
    const node = await startNode({ recording: 'evm', tip: 10 });
    const prefix = uniquePrefix();
    const typo = await start(node, { prefix, env: { CHAIN_ID: 'minievm-rce-1' } });
    await eventually(() => /of chain minievm-rec-1, not minievm-rce-1/.test(reason(typo)), 'the reason');
    assert.equal(await chainOf(typo), '', 'consumers must not take it for the chain either');
    await typo.stop();
    const right = await start(node, { prefix, env: { CHAIN_ID: 'minievm-rec-1' } });
    await right.reaches(10);
    assert.deepEqual([reason(right), await chainOf(right)], ['', 'minievm-rec-1']);
    await right.stop();
    await assert.rejects(start(node, { prefix, env: { CHAIN_ID: 'minievm-rce-1' } }), UserError);
  });

  it('takes the URL that is of the right chain', async () => {
    const stranger = await startNode({ recording: 'evm', tip: 10, faults: { network: 'stranger-1' } });
    const node = await startNode({ recording: 'evm', tip: 10 });
    const env = { CHAIN_ID: 'minievm-rec-1', RPC_URL: `${stranger.rpc_url},${node.rpc_url}` };
    await (await start(node, { env })).reaches(10);
  });

  it('is not ready because of the lowest of several blocks that are too large, which it names', async () => {
    const node = await startNode({ recording: 'evm', tip: 40 });
    // Of the heights 3 and 30 to 39.
    const hostile = await startHostile(node, { flood: '/block_results?height=3' });
    const urls = { RPC_URL: hostile.rpc_url, NODE_TIMEOUT_MS: '10000' };
    const block = await start(node, { env: { ...urls, NODE_BATCH: '1', NODE_BLOCK_MB: '1' } });
    const hits = async (): Promise<number> => (await block.metrics.limits.get()).values[0]?.value ?? 0;
    await eventually(async () => (await hits()) >= 11, 'all of them to be found too large');
    assert.match(reason(block), /^block 3 cannot be indexed.*; raise NODE_BLOCK_MB, or give the URL/);
    // The lowest is indexed; the reason is the next one.
    hostile.attack({ flood: '/block_results?height=30' });
    await eventually(() => reason(block).startsWith('block 30 cannot'), 'the next one');
  }).timeout(90_000);

  it('names no setting to raise for an answer that is nested too deep', async () => {
    const node = await startNode({ recording: 'evm', tip: 10 });
    const hostile = await startHostile(node, { deep: '/block_results?height=3' });
    const block = await start(node, { env: { RPC_URL: hostile.rpc_url, NODE_BATCH: '1' } });
    await eventually(() => reason(block).startsWith('block 3'), 'the reason');
    assert.match(reason(block), /^block 3 cannot be indexed.* more than 20000 deep; give the URL of a node/);
  });

  it('stops without waiting for those who stream from it', async () => {
    const node = await startNode({ recording: 'evm', tip: 10 });
    const block = await start(node, { env: { SHUTDOWN_GRACE_MS: '60000' } });
    await block.reaches(10);
    const endless = async (stream: AsyncIterable<unknown>): Promise<number> => {
      let messages = 0;
      for await (const _ of stream) messages += 1;
      return messages;
    };
    const { client } = block;
    const streams = [
      endless(stream(client).watchHead({})),
      endless(stream(client).streamBlocks({ from_height: 1, parent_hash: '' })),
      endless(stream(client).streamTraces({ from_height: 0 })),
    ];
    await new Promise((resolve) => setTimeout(resolve, 500));
    await block.service.stop();
    const messages = await Promise.all(streams);
    assert.ok(
      messages.every((count) => count > 0),
      String(messages),
    );
  }).timeout(30_000);

  it('waits for a node that is down at the first start', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const well = await startNode({ recording: 'evm', tip: 10 });
    const block = await start(well, {
      env: { RPC_URL: `${url}${new URL(well.rpc_url).pathname}`, CHAIN_ID: 'minievm-rec-1' },
    });
    await eventually(() => /the chain is not known yet/.test(reason(block)), 'the reason');
    await startNode({ recording: 'evm', tip: 10, port });
    await block.reaches(10);
    assert.equal(reason(block), '');
  });

  it('removes nothing when the chains parted below what the node still has, and heals with another node', async () => {
    const websocket = 'refused';
    const node = await startNode({ recording: 'evm', tip: 120, faults: { websocket } });
    const block = await start(node);
    await block.reaches(120);
    node.faults({ websocket, earliest_height: 110 });
    node.fork(101, { tip: 118 });
    const problems = async (): Promise<number> =>
      (await block.metrics.problems.get()).values
        .filter(({ labels }) => labels.kind === 'fork_below_node')
        .reduce((sum, { value }) => sum + value, 0);
    await eventually(async () => (await problems()) >= 2, 'the problem to be seen');
    assert.equal(block.service.head.last?.height, 120);
    node.faults({ websocket });
    await eventually(() => block.service.head.last?.height === 118, 'the new chain', 30_000);
    assert.equal((await block.metrics.rollbacks.get()).values[0]?.value, 1);
  });

  it('unwinds to right below what the node still has when that is where the chains parted', async () => {
    const websocket = 'refused';
    const node = await startNode({ recording: 'evm', tip: 120, faults: { websocket } });
    const block = await start(node);
    await block.reaches(120);
    node.faults({ websocket, earliest_height: 101 });
    node.fork(101, { tip: 118 });
    await eventually(() => block.service.head.last?.height === 118, 'the new chain', 30_000);
    assert.equal(block.service.head.first, 1, 'what is common stays');
  });

  it('appends what another process writes, so that answers about the past stay settled', async () => {
    const node = await startNode({ recording: 'evm', tip: 20 });
    const prefix = uniquePrefix();
    const serving = await start(node, { prefix, env: { ROLE: 'serve' } });
    assert.deepEqual([await chainOf(serving), reason(serving)], ['', 'no block is indexed yet']);
    const writer = await start(node, { prefix });
    await writer.reaches(20);
    await serving.reaches(20);
    await eventually(
      () => writer.service.head.trace_height === 20 && serving.service.head.trace_height === 20,
      'traces',
    );
    // The names of proposers come once, and change answers about the past.
    const first = { pagination: { key: '', offset: 0, limit: 1, count_total: false, reverse: false } };
    const moniker = async (): Promise<string | undefined> =>
      (await ask(serving.client).listBlocks(first)).blocks[0]?.proposer?.moniker;
    node.advance(1);
    await serving.reaches(21);
    await eventually(async () => {
      node.advance(1);
      await serving.reaches(node.tip());
      return (await moniker()) !== '';
    }, 'the proposer');
    const { revision } = serving.service.head;
    const tip = node.advance(5);
    await serving.reaches(tip);
    await eventually(() => serving.service.head.trace_height === tip, 'traces');
    assert.equal(serving.service.head.revision, revision);
    assert.equal(serving.service.head.headers(tip - 4, tip)?.length, 5, 'from memory');
    assert.deepEqual([await chainOf(serving), reason(serving)], ['minievm-rec-1', '']);

    const heights: number[] = [];
    for await (const { traces } of stream(serving.client).streamTraces({ from_height: 0 })) {
      heights.push(...traces.map(({ height }) => height));
      if (heights.at(-1) === tip) break;
    }
    assert.equal(heights.length, tip);

    const before = serving.service.head.last?.hash;
    node.fork(tip - 1, { tip });
    node.advance(1);
    await eventually(() => serving.service.head.last?.height === tip + 1, 'the new chain');
    assert.ok(serving.service.head.revision > revision);
    const [renewed] = (await ask(serving.client).listBlockHashes({ from_height: tip, to_height: tip }))
      .blocks;
    assert.notEqual(renewed?.hash, before);
  });
});
