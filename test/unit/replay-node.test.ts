import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReplayNode, type ReplayOptions, startReplayNode } from '../../tools/replay/node.js';
import { indexExchanges, loadRecording, rawTxs } from '../../tools/replay/recording.js';

interface Block {
  block_id: { hash: string };
  block: {
    header: { height: string; time: string; last_block_id: { hash: string }; proposer_address: string };
    data: { txs: string[] };
  };
}

const evm = loadRecording('evm');
const move = loadRecording('move');

async function withNode(options: ReplayOptions, body: (node: ReplayNode) => Promise<void>): Promise<void> {
  const node = await startReplayNode({ recording: evm, ...options });
  try {
    await body(node);
  } finally {
    await node.close();
  }
}

async function get(url: string, height?: number): Promise<{ status: number; json: unknown; text: string }> {
  const headers = height === undefined ? {} : { 'x-cosmos-block-height': String(height) };
  const response = await fetch(url, { headers });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

async function block(node: ReplayNode, height: number): Promise<Block> {
  const { json } = await get(`${node.rpc_url}/block?height=${height}`);
  return (json as { result: Block }).result;
}

async function post(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}

const call = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 7, method, params });

describe('replay node: the tip', () => {
  it('refuses heights beyond it as each API does', () =>
    withNode({ tip: 40 }, async (node) => {
      for (const path of ['block', 'block_results', 'commit']) {
        const { status, json } = await get(`${node.rpc_url}/${path}?height=41`);
        assert.equal(status, 500);
        assert.deepEqual(json, {
          jsonrpc: '2.0',
          id: -1,
          error: {
            code: -32603,
            message: 'Internal error',
            data: 'height 41 must be less than or equal to the current blockchain height 40',
          },
        });
      }
      const rest = await get(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/41`);
      assert.equal(rest.status, 500);
      assert.deepEqual(rest.json, {
        code: 2,
        message:
          'codespace sdk code 26: invalid height: requested height 41 but height must not be less than 1 or greater than the current height 40',
        details: [],
      });
      assert.equal((await get(`${node.rest_url}/cosmos/bank/v1beta1/supply`, 41)).status, 500);
      const posted = await fetch(node.rpc_url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'block', params: { height: '41' } }),
      });
      assert.equal(posted.status, 200, 'errors of a POST are HTTP 200');
      assert.match(await posted.text(), /^{"jsonrpc":"2.0","id":"a","error":{"code":-32603/);
      const answers = (await post(node.json_rpc_url, [
        { ...call('eth_blockNumber'), id: 1 },
        { ...call('eth_getBlockReceipts', '0x29'), id: 2 },
        { ...call('debug_traceBlockByNumber', '0x29', { tracer: 'callTracer' }), id: 3 },
        { ...call('debug_traceBlockByNumber', '0x2a', { tracer: 'callTracer' }), id: 4 },
        {
          ...call(
            'eth_call',
            { to: '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9', data: '0x06fdde03' },
            '0x29',
          ),
          id: 5,
        },
      ])) as { id: number; result?: unknown; error?: { code: number; message: string } }[];
      assert.deepEqual(
        answers.map((a) => a.id),
        [1, 2, 3, 4, 5],
      );
      assert.equal(answers[0]!.result, '0x28');
      assert.equal(answers[1]!.result, null);
      assert.equal(answers[2]!.error!.message, 'block #41 not found');
      assert.equal(answers[3]!.error!.message, 'requested height is greater than the latest block height');
      assert.equal(answers[4]!.error!.code, -32000);
    }));

  it('shows in status, abci_info and the latest block, and moves', () =>
    withNode({ tip: 10 }, async (node) => {
      const tips = async () => {
        const status = (await get(`${node.rpc_url}/status`)).json as {
          result: { sync_info: Record<string, string>; node_info: { network: string } };
        };
        const info = (await get(`${node.rpc_url}/abci_info`)).json as {
          result: { response: Record<string, string> };
        };
        const latest = (await get(`${node.rest_url}/cosmos/base/tendermint/v1beta1/blocks/latest`)).json as {
          block: { header: { height: string } };
        };
        assert.equal(status.result.node_info.network, 'minievm-rec-1');
        assert.equal(status.result.sync_info['earliest_block_height'], '1');
        return [
          status.result.sync_info['latest_block_height'],
          info.result.response['last_block_height'],
          latest.block.header.height,
          status.result.sync_info['latest_block_hash'],
        ];
      };
      assert.deepEqual(await tips(), ['10', '10', '10', evm.bodies(10)!.hash]);
      assert.equal(node.advance(), 11);
      assert.equal(node.advance(4), 15);
      assert.deepEqual(await tips(), ['15', '15', '15', evm.bodies(15)!.hash]);
      node.setTip(12);
      assert.deepEqual(await tips(), ['12', '12', '12', evm.bodies(12)!.hash]);
      assert.throws(() => node.setTip(0));
    }));

  it('moves by itself when told an interval', () =>
    withNode({ tip: 3, interval_ms: 10 }, async (node) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      assert.ok(node.tip() > 5, `tip ${node.tip()}`);
    }));
});

describe('replay node: after the end of the recording', () => {
  it('goes on with empty blocks of right parent hashes', () =>
    withNode({ tip: evm.last + 30 }, async (node) => {
      let parent = await block(node, evm.last - 1);
      for (let height = evm.last; height <= evm.last + 30; height++) {
        const next = await block(node, height);
        assert.equal(next.block.header.height, String(height));
        assert.equal(next.block.header.last_block_id.hash, parent.block_id.hash);
        assert.match(next.block_id.hash, /^[0-9A-F]{64}$/);
        assert.ok(next.block.header.time > parent.block.header.time);
        assert.equal(next.block.header.proposer_address, parent.block.header.proposer_address);
        if (height > evm.last) {
          assert.deepEqual(next.block.data.txs, []);
          const results = (await get(`${node.rpc_url}/block_results?height=${height}`)).text;
          assert.match(
            results,
            new RegExp(`"result":{"height":"${height}","txs_results":null,"finalize_block_events":null`),
          );
          const rest = (await get(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/${height}`)).json as {
            txs: unknown[];
            pagination: { total: string };
            block_id: { hash: string };
          };
          assert.deepEqual(rest.txs, []);
          assert.equal(rest.pagination.total, '0');
          assert.equal(
            Buffer.from(rest.block_id.hash, 'base64').toString('hex').toUpperCase(),
            next.block_id.hash,
          );
        }
        parent = next;
      }
      const hex = `0x${(evm.last + 5).toString(16)}`;
      const answers = (await post(node.json_rpc_url, [
        call('eth_getBlockReceipts', hex),
        call('debug_traceBlockByNumber', hex, {}),
        call('eth_blockNumber'),
      ])) as { result: unknown }[];
      assert.deepEqual(
        answers.map((a) => a.result),
        [[], [], `0x${(evm.last + 30).toString(16)}`],
      );
    }));

  it('goes on when the disk of its state is full, and writes the state once there is room', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'replay-'));
    const state_path = join(folder, 'state.json');
    const remembered = (): number => JSON.parse(readFileSync(state_path, 'utf8')).tip;
    try {
      await withNode({ tip: 5, state_path }, async (node) => {
        symlinkSync('/dev/full', `${state_path}.new`); // what is written there finds no room
        assert.equal(node.advance(), 6);
        assert.equal(remembered(), 5);
        assert.equal(node.advance(), 7);
        assert.equal(remembered(), 7);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is the same chain in every process, and remembers its height', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'replay-'));
    const state_path = join(folder, 'deep', 'state.json');
    const top = evm.last + 9;
    const seen: string[] = [];
    try {
      await withNode({ tip: 5, state_path }, async (node) => {
        node.setTip(top);
        node.fork(evm.last + 4);
        for (let h = evm.last; h <= top; h++) seen.push(JSON.stringify(await block(node, h)));
      });
      await withNode({ tip: 5, state_path, at_least: 20, interval_ms: 60_000 }, async (node) => {
        assert.equal(node.tip(), top);
        const again: string[] = [];
        for (let h = evm.last; h <= top; h++) again.push(JSON.stringify(await block(node, h)));
        assert.deepEqual(again, seen);
      });
      await withNode({ tip: 5, at_least: top + 3 }, async (node) => assert.equal(node.tip(), top + 3));
      await assert.rejects(
        startReplayNode({ recording: move, state_path }),
        /minievm-rec-1, not minimove-lab-1/,
      );
      writeFileSync(state_path, '{"chain_id":');
      await assert.rejects(startReplayNode({ recording: evm, state_path }), SyntaxError);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('replay node: a fork', () => {
  it('has other blocks from its height on, rightly linked', () =>
    withNode({ tip: 60 }, async (node) => {
      const before = [await block(node, 49), await block(node, 50), await block(node, 60)];
      node.fork(50);
      const after = [await block(node, 49), await block(node, 50), await block(node, 60)];
      assert.equal(node.tip(), 60);
      assert.deepEqual(after[0], before[0]);
      assert.notEqual(after[1]!.block_id.hash, before[1]!.block_id.hash);
      assert.notEqual(after[2]!.block_id.hash, before[2]!.block_id.hash);
      for (let h = 49; h <= 60; h++) {
        const [parent, child] = [await block(node, h - 1), await block(node, h)];
        assert.equal(child.block.header.last_block_id.hash, parent.block_id.hash, `height ${h}`);
        if (h >= 50) assert.deepEqual(child.block.data.txs, []);
      }
      const receipts = (await post(node.json_rpc_url, call('eth_getBlockReceipts', '0x39'))) as {
        result: unknown;
      };
      assert.deepEqual(receipts.result, []);
      node.fork(45, { tip: 52 });
      assert.equal(node.tip(), 52);
      assert.notEqual((await block(node, 50)).block_id.hash, after[1]!.block_id.hash);
      assert.throws(() => node.fork(1), /needs a parent/);
    }));

  it('can keep the txs', () =>
    withNode({ tip: 60 }, async (node) => {
      node.fork(25, { keep_txs: true });
      const [parent, child] = [await block(node, 24), await block(node, 25)];
      assert.deepEqual(child.block.data.txs, rawTxs(evm.bodies(25)!.block));
      assert.notEqual(child.block_id.hash, evm.bodies(25)!.hash);
      assert.equal(child.block.header.last_block_id.hash, parent.block_id.hash);
      const rest = (await get(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/25`)).json as { txs: unknown[] };
      assert.equal(rest.txs.length, 1);
    }));
});

describe('replay node: pages of txs', () => {
  it('are those of the real node, at sizes nobody recorded too', () =>
    withNode({ recording: move }, async (node) => {
      const txs = async (query: string) => {
        const answer = await get(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/127${query}`);
        if (answer.status !== 200) return (answer.json as { message: string }).message;
        const body = answer.json as {
          txs: { signatures: string[] }[];
          pagination: { next_key: unknown; total: string };
          block: { data: { txs: string[] } };
        };
        assert.deepEqual(body.pagination, { next_key: null, total: '135' });
        assert.equal(body.block.data.txs.length, 135);
        return body.txs.map((t) => t.signatures[0]);
      };
      const all = (await txs('?pagination.limit=1000')) as string[];
      assert.equal(all.length, 135);
      assert.equal(new Set(all).size, 135);
      assert.deepEqual(await txs(''), all.slice(0, 100));
      assert.deepEqual(await txs('?pagination.limit=100'), all.slice(0, 100));
      assert.deepEqual(await txs('?pagination.limit=100&pagination.offset=100'), all.slice(100));
      assert.deepEqual(await txs('?pagination.offset=7&pagination.limit=3'), all.slice(7, 10));
      assert.deepEqual(await txs('?pagination.offset=100'), []);
      assert.deepEqual(await txs('?pagination.limit=100&pagination.reverse=true'), []);
      assert.equal(
        await txs('?pagination.limit=100&pagination.offset=135'),
        'codespace sdk code 18: invalid request: out of range: cannot paginate 135 txs with offset 135 and limit 100',
      );
    }));
});

describe('replay node: addresses and methods', () => {
  it('serves the three APIs below one URL too, told apart by path and method', () =>
    withNode({ tip: 30 }, async (node) => {
      assert.equal((await get(`${node.url}/status`)).status, 200);
      assert.equal((await get(`${node.url}/opinit/opchild/v1/validators?pagination.limit=1000`)).status, 200);
      const batch = (await post(node.url, [call('net_version'), call('eth_chainId')])) as {
        result: string;
      }[];
      assert.deepEqual(
        batch.map((b) => b.result),
        ['1', '0xdc8490bd296c'],
      );
      const status = (await post(node.url, call('status'))) as { id: number; result: object };
      assert.equal(status.id, 7);
      assert.ok('sync_info' in status.result);
    }));

  it('answers the unknown as each API does', () =>
    withNode({}, async (node) => {
      assert.deepEqual(await get(`${node.rpc_url}/nothing`), {
        status: 404,
        json: undefined,
        text: '404 page not found\n',
      });
      const rest = await get(`${node.rest_url}/cosmos/nothing/v1`);
      assert.equal(rest.status, 501);
      assert.deepEqual(rest.json, { code: 12, message: 'Not Implemented', details: [] });
      const unknown = (await post(node.json_rpc_url, call('eth_nothing'))) as { error: { code: number } };
      assert.equal(unknown.error.code, -32601);
      const comet = (await post(node.rpc_url, call('nothing'))) as { error: { code: number } };
      assert.equal(comet.error.code, -32601);
      const broken = await fetch(node.json_rpc_url, { method: 'POST', body: '{"jsonrpc":' });
      assert.match(await broken.text(), /-32700/);
    }));

  it('has no EVM API on a chain without one', () =>
    withNode({ recording: move }, async (node) => {
      const answer = (await post(node.json_rpc_url, call('eth_blockNumber'))) as { error: { code: number } };
      assert.equal(answer.error.code, -32601);
    }));

  it('takes heights as CometBFT does: quoted, positional, absent', () =>
    withNode({ tip: 20 }, async (node) => {
      const heightOf = (json: unknown) => (json as { result: Block }).result.block.header.height;
      assert.equal(heightOf((await get(`${node.rpc_url}/block?height=%2215%22`)).json), '15');
      assert.equal(heightOf((await get(`${node.rpc_url}/block`)).json), '20');
      assert.equal(heightOf(await post(node.rpc_url, call('block', '15'))), '15');
    }));

  it('finds txs by hash', () =>
    withNode({ tip: 24 }, async (node) => {
      const { txs } = evmFacts().find((b) => b.height === 25) ?? assert.fail('no block 25');
      const path = `${node.rpc_url}/tx?hash=0x${txs[0]}`;
      assert.match((await get(path)).text, /not found/);
      node.setTip(25);
      const found = (await get(path)).json as { result: { hash: string; height: string; index: number } };
      assert.deepEqual([found.result.hash, found.result.height, found.result.index], [txs[0], '25', 0]);
    }));

  it('counts requests by kind', () =>
    withNode({}, async (node) => {
      await get(`${node.rpc_url}/status`);
      await get(`${node.rpc_url}/block?height=1`);
      await post(node.json_rpc_url, [call('eth_blockNumber'), call('eth_blockNumber')]);
      assert.deepEqual(node.requests(), {
        http: 3,
        'rpc.status': 1,
        'rpc.block': 1,
        'evm.eth_blockNumber': 2,
        'evm.batch': 1,
      });
      node.resetRequests();
      assert.deepEqual(node.requests(), {});
    }));
});

describe('recordings', () => {
  it('name what is wrong with them', () => {
    assert.throws(() => loadRecording('no-such'), /no recording at/);
    assert.throws(() => indexExchanges([], 'mine'), /mine: no block/);
    const hole = evm.exchanges.filter((e) => e.path !== '/block_results?height=20');
    assert.throws(() => indexExchanges(hole, 'mine'), /mine: results of block 20 missing/);
  });

  it('may be of another chain, start late, and lack everything but blocks', () =>
    withNode(
      {
        recording: indexExchanges(
          evm.exchanges.filter((e) => /^\/block(_results)?\?height=1[0-4]\d$/.test(e.path)),
          'blocks only',
        ),
      },
      async (node) => {
        const status = (await get(`${node.rpc_url}/status`)).json as {
          result: { sync_info: Record<string, string> };
        };
        assert.equal(status.result.sync_info['earliest_block_height'], '100');
        assert.equal(status.result.sync_info['latest_block_height'], '149');
        const below = (await get(`${node.rpc_url}/block?height=99`)).json as { error: { data: string } };
        assert.equal(below.error.data, 'height 99 is not available, lowest height is 100');
        const rest = (await get(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/110`)).json as {
          txs: unknown[];
          pagination: { total: string };
        };
        assert.deepEqual([rest.txs, rest.pagination.total], [[], '1'], 'its REST misses the tx');
      },
    ));
});

/** Hashes of the txs by height, worked out from the raw bytes as CometBFT defines them. */
function evmFacts(): { height: number; txs: string[] }[] {
  const out = [];
  for (let height = evm.first; height <= evm.last; height++) {
    const txs = rawTxs(evm.bodies(height)!.block).map((raw) =>
      createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex').toUpperCase(),
    );
    out.push({ height, txs });
  }
  return out;
}
