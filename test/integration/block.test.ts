import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { BlockMaterial, type RawBlock } from '../../services/common/gen/indexer/block/v1/block.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { blockStarters, eventually, type TestBlock } from '../support/block.js';
import { query, uniquePrefix } from '../support/database.js';
import { readFacts, vmOf } from '../support/facts.js';
import { ask, stream } from '../support/rpc.js';
import { chosen } from '../support/sample.js';
import { endsAfterEach } from '../support/suite.js';

/** Everything that the service streams, from a height up to another. */
async function streamed(
  block: TestBlock,
  to: number,
  from_height = 0,
  parent_hash = '',
): Promise<RawBlock[]> {
  const blocks: RawBlock[] = [];
  for await (const batch of stream(block.client).streamBlocks({ from_height, parent_hash })) {
    blocks.push(...batch.blocks);
    if ((blocks.at(-1)?.height ?? 0) >= to) break;
  }
  return blocks;
}

const contentOf = (blocks: readonly RawBlock[]) =>
  blocks.map(({ material, ...rest }) => ({ ...rest, material: BlockMaterial.decode(gunzipSync(material)) }));

const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: false };

describe('block service', () => {
  const endLater = endsAfterEach();
  const { startNode, start } = blockStarters(endLater);

  for (const name of chosen('evm', 'wasm-hostile')) {
    it(`indexes every block of the ${name} recording and streams its material`, async () => {
      const facts = readFacts(name);
      const node = await startNode({ recording: name });
      const block = await start(node, { vm: vmOf(name) });
      await block.reaches(node.tip());
      const { blocks, pagination } = await ask(block.client).listBlocks({ pagination: page });
      assert.equal(pagination?.total, String(facts.height));
      assert.deepEqual(
        blocks.map((each) => each.height),
        Array.from({ length: facts.height }, (_, i) => String(i + 1)),
      );
      assert.equal(
        blocks.reduce((sum, each) => sum + Number(each.tx_count), 0),
        facts.txs_total,
      );
      assert.equal(
        blocks.reduce((sum, each) => sum + Number(each.gas_used), 0),
        facts.txs.reduce((sum, tx) => sum + tx.gas_used, 0),
      );
      assert.ok(blocks.every((each) => each.chain_id === facts.chain_id && each.timestamp.endsWith('Z')));
      await eventually(async () => {
        const { blocks: now } = await ask(block.client).listBlocks({ pagination: page });
        return now.every((each) => each.proposer?.operator_address.startsWith('initvaloper1'));
      }, 'every proposer to be known');

      const raws = await streamed(block, facts.height);
      assert.deepEqual(
        raws.map((raw) => raw.hash),
        blocks.map((each) => each.hash),
      );
      assert.ok(raws.every((raw, i) => i === 0 || raw.parent_hash === raws[i - 1]?.hash));
      const txs = contentOf(raws).flatMap((raw) => raw.material.txs);
      assert.equal(txs.length, facts.txs_total);
      assert.ok(
        txs.every((tx) => !tx.decoded_locally),
        'the REST API gave every tx',
      );
    });
  }

  it('streams what it has, and writes nothing more, once it is told to stop writing', async () => {
    const node = await startNode({ recording: 'evm', tip: 20 });
    const block = await start(node);
    await block.reaches(20);
    block.service.stopWriting?.();
    node.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(block.service.head.last?.height, 20);
    assert.equal((await streamed(block, 20)).length, 20);
  });

  it('gives the same material whether it comes from memory or from the tables', async () => {
    const node = await startNode({ recording: 'move' });
    const prefix = uniquePrefix();
    const first = await start(node, { vm: 'move', prefix });
    await first.reaches(128);
    const live = contentOf(await streamed(first, 128));
    await first.stop();
    const second = await start(node, { vm: 'move', prefix, env: { ROLE: 'serve' } });
    assert.deepEqual(contentOf(await streamed(second, 128)), live);
    const tail = await streamed(second, 128, 101, live[99]?.hash);
    assert.deepEqual(
      tail.map((raw) => raw.height),
      Array.from({ length: 28 }, (_, i) => i + 101),
    );
  });

  it('indexes exactly the same from a node that fails, lags, cuts answers and misses txs', async () => {
    const well = await startNode({ recording: 'evm' });
    const expected = await start(well);
    await expected.reaches(157);
    const node = await startNode({
      recording: 'evm',
      faults: {
        seed: 7,
        fail_one_in: 5,
        stale_one_in: 7,
        evm_lag: 2,
        rest_lag: 1,
        missing_txs: [{ height: 17, index: 0, times: 1 }],
      },
    });
    const block = await start(node);
    // The lagging interfaces never show the last blocks of a chain that stands still.
    node.setTip(160);
    await block.reaches(155);
    const [is, should] = [await streamed(block, 155), await streamed(expected, 155)];
    assert.deepEqual(contentOf(is).slice(0, 155), contentOf(should).slice(0, 155));
    const errors = await block.metrics.nodeErrors.get();
    assert.ok(errors.values.reduce((sum, { value }) => sum + value, 0) > 20, 'the faults were felt');
  });

  it('decodes a tx from its bytes when REST never gives it', async () => {
    const node = await startNode({ recording: 'wasm', faults: { missing_txs: [{ height: 102, index: 3 }] } });
    const block = await start(node, { vm: 'wasm' });
    await block.reaches(103);
    const [raw] = contentOf(await streamed(block, 102, 102));
    const local = (raw?.material.txs ?? [])
      .map((tx, i) => (tx.decoded_locally ? i : -1))
      .filter((i) => i >= 0);
    assert.deepEqual(local, [3]);
    const [one, other] = [3, 4].map((i) =>
      JSON.parse(Buffer.from(raw?.material.txs[i]?.decoded ?? '').toString()),
    );
    assert.deepEqual(Object.keys(one), Object.keys(other));
    assert.equal(one.body.messages[0]['@type'], other.body.messages[0]['@type']);
  });

  it('asks for nothing beyond the tip, and goes on when the tip moves', async () => {
    const node = await startNode({ recording: 'evm', tip: 100 });
    const block = await start(node);
    await block.reaches(100);
    node.resetRequests();
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(node.requests()['rpc.block'] ?? 0, 0);
    node.advance(3);
    await block.reaches(103);
    assert.equal(node.requests()['rpc.block'], 3);
    const behind = (await block.metrics.nodeErrors.get()).values.filter(
      ({ labels }) => labels.reason === 'behind',
    );
    assert.deepEqual(behind, []);
  });

  it('uses the next URL while one is dead', async () => {
    const node = await startNode({ recording: 'evm' });
    const dead = 'http://127.0.0.1:9';
    const block = await start(node, {
      env: {
        RPC_URL: `${dead},${node.rpc_url}`,
        REST_URL: `${dead},${node.rest_url}`,
        JSON_RPC_URL: `${dead},${node.json_rpc_url}`,
      },
    });
    await block.reaches(157);
  });

  it('unwinds a rollback, tells consumers, and goes on with the new chain', async () => {
    const node = await startNode({ recording: 'evm', tip: 120 });
    const block = await start(node);
    await block.reaches(120);
    const before = await streamed(block, 120);
    const following = (async () => {
      for await (const _ of stream(block.client).streamBlocks({
        from_height: 121,
        parent_hash: before[119]?.hash ?? '',
      }));
    })();
    node.fork(101, { tip: 118 });
    await assert.rejects(following, { code: 10 });
    await eventually(() => block.service.head.last?.height === 118, 'the new chain');
    const after = await streamed(block, 118);
    assert.deepEqual(
      after.slice(0, 100).map((raw) => raw.hash),
      before.slice(0, 100).map((raw) => raw.hash),
    );
    assert.ok(after.slice(100).every((raw, i) => raw.hash !== before[100 + i]?.hash));
    assert.ok(after.every((raw, i) => i === 0 || raw.parent_hash === after[i - 1]?.hash));
    await eventually(() => block.service.head.trace_height === 118, 'the traces of the new chain');
    await assert.rejects(streamed(block, 118, 119, before[117]?.hash), { code: 10 });
    assert.equal((await block.metrics.rollbacks.get()).values[0]?.value, 1);
  });

  it('begins where a pruned node begins, and counts only indexed heights', async () => {
    const node = await startNode({ recording: 'evm', faults: { earliest_height: 90 } });
    const block = await start(node);
    await block.reaches(157);
    const { blocks, pagination } = await ask(block.client).listBlocks({ pagination: page });
    assert.equal(pagination?.total, '68');
    assert.equal(blocks[0]?.height, '90');
    assert.equal(blocks[0]?.block_time, '0');
    await assert.rejects(ask(block.client).getBlock({ height: 89 }), { code: 5 });
  });

  it('waits, rather than skips, when START_HEIGHT lies before what the node has', async () => {
    const node = await startNode({ recording: 'evm', faults: { earliest_height: 90 } });
    const block = await start(node, { env: { START_HEIGHT: '50' } });
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(block.service.head.last, undefined);
    node.faults({});
    await block.reaches(157);
    assert.equal(block.service.head.first, 50);
  });

  it('refuses another chain on the same tables', async () => {
    const node = await startNode({ recording: 'wasm' });
    const prefix = uniquePrefix();
    const block = await start(node, { vm: 'wasm', prefix });
    await block.reaches(103);
    await block.stop();
    await assert.rejects(start(node, { vm: 'wasm', prefix, env: { CHAIN_ID: 'other-1' } }), UserError);
  });

  it('writes nothing from a node that was restarted as another chain', async () => {
    const node = await startNode({ recording: 'evm', tip: 50 });
    const block = await start(node, { env: { CHAIN_ID: 'minievm-rec-1' } });
    await block.reaches(50);
    node.faults({ network: 'stranger-1' });
    node.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(block.service.head.last?.height, 50);
    node.faults({});
    await block.reaches(55);
  });

  it('goes on without internal txs when the node does not trace', async () => {
    const node = await startNode({ recording: 'evm', faults: { traces: 'unsupported' } });
    const block = await start(node);
    await block.reaches(157);
    assert.ok(block.service.head.trace_height < 17);
  });

  it('streams the traces of every block', async () => {
    const node = await startNode({ recording: 'evm' });
    const block = await start(node);
    await eventually(() => block.service.head.trace_height === 157, 'the traces');
    const heights: number[] = [];
    let frames = 0;
    for await (const { traces } of stream(block.client).streamTraces({ from_height: 0 })) {
      for (const trace of traces) {
        heights.push(trace.height);
        frames += (JSON.parse(gunzipSync(trace.material).toString()) as unknown[]).length;
      }
      if (heights.at(-1) === 157) break;
    }
    assert.deepEqual(
      heights,
      Array.from({ length: 157 }, (_, i) => i + 1),
    );
    assert.equal(frames, readFacts('evm').evm_txs_total);
  });

  for (const point of [
    'before materials',
    'before headers',
    'after headers',
    'before traces',
    'after traces',
  ]) {
    it(`loses and doubles nothing when a write fails ${point}`, async () => {
      const node = await startNode({ recording: 'evm' });
      let failures = 0;
      const prefix = uniquePrefix();
      const block = await start(node, {
        prefix,
        fault: (where) => {
          if (where === point && failures++ < 2) throw new Error('caused by the test');
        },
      });
      await block.reaches(157);
      await eventually(() => block.service.head.trace_height === 157, 'the traces');
      assert.ok(failures >= 2);
      const raws = await streamed(block, 157);
      const heights = Array.from({ length: 157 }, (_, i) => i + 1);
      assert.deepEqual(
        raws.map((raw) => raw.height),
        heights,
      );
      for (const table of ['blocks', 'materials', 'traces']) {
        const rows = await query<{ height: number }>(
          `SELECT height FROM ${prefix}_block.${table} ORDER BY height`,
        );
        assert.deepEqual(
          rows.map(({ height }) => height),
          heights,
          table,
        );
      }
    });
  }
});
