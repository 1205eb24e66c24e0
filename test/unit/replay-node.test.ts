import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReplayNode, type ReplayOptions, startReplayNode } from '../../tools/replay/node.js';
import { indexExchanges, loadRecording, rawTxs, txHash } from '../../tools/replay/recording.js';
import { temporaryFolder } from '../support/folder.js';
import { call, getFrom, type NodeAnswer, postTo } from '../support/node-client.js';

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

const block = async (node: ReplayNode, height: number) =>
  (await getFrom(`${node.rpc_url}/block?height=${height}`)).json.result;
const txsOf = async (node: ReplayNode, height: number) =>
  (await getFrom(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/${height}`)).json;
const statusOf = async (node: ReplayNode) => (await getFrom(`${node.rpc_url}/status`)).json.result;
/** The results of a batch of calls. */
const results = async (url: string, ...calls: readonly unknown[]): Promise<unknown[]> =>
  (await postTo(url, calls)).json.map(({ result }: { result: unknown }) => result);

describe('replay node: the tip', () => {
  it('refuses heights beyond it as each API does', () =>
    withNode({ tip: 40 }, async (node) => {
      for (const path of ['block', 'block_results', 'commit']) {
        const { status, json } = await getFrom(`${node.rpc_url}/${path}?height=41`);
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
      const rest = await getFrom(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/41`);
      assert.equal(rest.status, 500);
      assert.deepEqual(rest.json, {
        code: 2,
        message:
          'codespace sdk code 26: invalid height: requested height 41 but height must not be less than 1 or greater than the current height 40',
        details: [],
      });
      assert.equal((await getFrom(`${node.rest_url}/cosmos/bank/v1beta1/supply`, 41)).status, 500);
      const asked = { jsonrpc: '2.0', id: 'a', method: 'block', params: { height: '41' } };
      const posted = await postTo(node.rpc_url, asked);
      assert.equal(posted.status, 200, 'errors of a POST are HTTP 200');
      assert.match(posted.text, /^{"jsonrpc":"2.0","id":"a","error":{"code":-32603/);
      const calls = [
        call('eth_blockNumber'),
        call('eth_getBlockReceipts', '0x29'),
        call('debug_traceBlockByNumber', '0x29', { tracer: 'callTracer' }),
        call('debug_traceBlockByNumber', '0x2a', { tracer: 'callTracer' }),
        call('eth_call', { to: '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9', data: '0x06fdde03' }, '0x29'),
      ];
      const numbered = calls.map((one, index) => ({ ...one, id: index + 1 }));
      const answers = (await postTo(node.json_rpc_url, numbered)).json;
      assert.deepEqual(
        answers.map(({ id }: { id: number }) => id),
        [1, 2, 3, 4, 5],
      );
      assert.equal(answers[0].result, '0x28');
      assert.equal(answers[1].result, null);
      assert.equal(answers[2].error.message, 'block #41 not found');
      assert.equal(answers[3].error.message, 'requested height is greater than the latest block height');
      assert.equal(answers[4].error.code, -32000);
    }));

  it('shows in status, abci_info and the latest block, and moves', () =>
    withNode({ tip: 10 }, async (node) => {
      const tips = async () => {
        const { sync_info, node_info } = await statusOf(node);
        const info = (await getFrom(`${node.rpc_url}/abci_info`)).json;
        const latest = (await getFrom(`${node.rest_url}/cosmos/base/tendermint/v1beta1/blocks/latest`)).json;
        assert.equal(node_info.network, 'minievm-rec-1');
        assert.equal(sync_info.earliest_block_height, '1');
        return [
          sync_info.latest_block_height,
          info.result.response.last_block_height,
          latest.block.header.height,
          sync_info.latest_block_hash,
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
          const { text } = await getFrom(`${node.rpc_url}/block_results?height=${height}`);
          const none = `"result":{"height":"${height}","txs_results":null,"finalize_block_events":null`;
          assert.ok(text.includes(none), text);
          const { txs, pagination, block_id } = await txsOf(node, height);
          assert.deepEqual([txs, pagination.total], [[], '0']);
          assert.equal(block_id.hash, Buffer.from(next.block_id.hash, 'hex').toString('base64'));
        }
        parent = next;
      }
      const hex = `0x${(evm.last + 5).toString(16)}`;
      const calls = [call('eth_getBlockReceipts', hex), call('debug_traceBlockByNumber', hex, {})];
      assert.deepEqual(await results(node.json_rpc_url, ...calls, call('eth_blockNumber')), [
        [],
        [],
        `0x${(evm.last + 30).toString(16)}`,
      ]);
    }));

  it('goes on when the disk of its state is full, and writes the state once there is room', async () => {
    const folder = temporaryFolder('replay');
    const state_path = join(folder, 'state.json');
    const remembered = (): number => JSON.parse(readFileSync(state_path, 'utf8')).tip;
    await withNode({ tip: 5, state_path }, async (node) => {
      symlinkSync('/dev/full', `${state_path}.new`); // what is written there finds no room
      assert.equal(node.advance(), 6);
      assert.equal(remembered(), 5);
      assert.equal(node.advance(), 7);
      assert.equal(remembered(), 7);
    });
  });

  it('is the same chain in every process, and remembers its height', async () => {
    const folder = temporaryFolder('replay');
    const state_path = join(folder, 'deep', 'state.json');
    const top = evm.last + 9;
    const heights = Array.from({ length: 10 }, (_, index) => evm.last + index);
    const blocks = (node: ReplayNode) => Promise.all(heights.map((height) => block(node, height)));
    let seen: unknown[] = [];
    await withNode({ tip: 5, state_path }, async (node) => {
      node.setTip(top);
      node.fork(evm.last + 4);
      seen = await blocks(node);
    });
    await withNode({ tip: 5, state_path, at_least: 20, interval_ms: 60_000 }, async (node) => {
      assert.equal(node.tip(), top);
      assert.deepEqual(await blocks(node), seen);
    });
    await withNode({ tip: 5, at_least: top + 3 }, async (node) => assert.equal(node.tip(), top + 3));
    await assert.rejects(
      startReplayNode({ recording: move, state_path }),
      /minievm-rec-1, not minimove-lab-1/,
    );
    writeFileSync(state_path, '{"chain_id":');
    await assert.rejects(startReplayNode({ recording: evm, state_path }), SyntaxError);
  });
});

describe('replay node: a fork', () => {
  it('has other blocks from its height on, rightly linked', () =>
    withNode({ tip: 60 }, async (node) => {
      const some = () => Promise.all([49, 50, 60].map((height) => block(node, height)));
      const before = await some();
      node.fork(50);
      const after = await some();
      assert.equal(node.tip(), 60);
      assert.deepEqual(after[0], before[0]);
      for (const index of [1, 2]) assert.notEqual(after[index].block_id.hash, before[index].block_id.hash);
      for (let h = 49; h <= 60; h++) {
        const [parent, child] = [await block(node, h - 1), await block(node, h)];
        assert.equal(child.block.header.last_block_id.hash, parent.block_id.hash, `height ${h}`);
        if (h >= 50) assert.deepEqual(child.block.data.txs, []);
      }
      assert.deepEqual(await results(node.json_rpc_url, call('eth_getBlockReceipts', '0x39')), [[]]);
      node.fork(45, { tip: 52 });
      assert.equal(node.tip(), 52);
      assert.notEqual((await block(node, 50)).block_id.hash, after[1].block_id.hash);
      assert.throws(() => node.fork(1), /needs a parent/);
    }));

  it('can keep the txs', () =>
    withNode({ tip: 60 }, async (node) => {
      node.fork(25, { keep_txs: true });
      const [parent, child] = [await block(node, 24), await block(node, 25)];
      assert.deepEqual(child.block.data.txs, rawTxs(evm.bodies(25)!.block));
      assert.notEqual(child.block_id.hash, evm.bodies(25)!.hash);
      assert.equal(child.block.header.last_block_id.hash, parent.block_id.hash);
      assert.equal((await txsOf(node, 25)).txs.length, 1);
    }));
});

describe('replay node: pages of txs', () => {
  it('are those of the real node, at sizes nobody recorded too', () =>
    withNode({ recording: move }, async (node) => {
      const txs = async (query: string) => {
        const answer = await getFrom(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/127${query}`);
        if (answer.status !== 200) return answer.json.message;
        assert.deepEqual(answer.json.pagination, { next_key: null, total: '135' });
        assert.equal(answer.json.block.data.txs.length, 135);
        return answer.json.txs.map(({ signatures }: { signatures: string[] }) => signatures[0]);
      };
      const all = await txs('?pagination.limit=1000');
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
      assert.equal((await getFrom(`${node.url}/status`)).status, 200);
      assert.equal(
        (await getFrom(`${node.url}/opinit/opchild/v1/validators?pagination.limit=1000`)).status,
        200,
      );
      const answers = await results(node.url, call('net_version'), call('eth_chainId'));
      assert.deepEqual(answers, ['1', '0xdc8490bd296c']);
      const status = (await postTo(node.url, call('status'))).json;
      assert.equal(status.id, 7);
      assert.ok('sync_info' in status.result);
    }));

  it('answers the unknown as each API does', () =>
    withNode({}, async (node) => {
      assert.deepEqual(await getFrom(`${node.rpc_url}/nothing`), {
        status: 404,
        json: undefined,
        text: '404 page not found\n',
      });
      const rest = await getFrom(`${node.rest_url}/cosmos/nothing/v1`);
      assert.equal(rest.status, 501);
      assert.deepEqual(rest.json, { code: 12, message: 'Not Implemented', details: [] });
      const unknown = await postTo(node.json_rpc_url, call('eth_nothing'));
      assert.equal(unknown.json.error.code, -32601);
      const comet = await postTo(node.rpc_url, call('nothing'));
      assert.equal(comet.json.error.code, -32601);
      const broken = await fetch(node.json_rpc_url, { method: 'POST', body: '{"jsonrpc":' });
      assert.match(await broken.text(), /-32700/);
    }));

  it('has no EVM API on a chain without one', () =>
    withNode({ recording: move }, async (node) => {
      const answer = await postTo(node.json_rpc_url, call('eth_blockNumber'));
      assert.equal(answer.json.error.code, -32601);
    }));

  it('takes heights as CometBFT does: quoted, positional, absent', () =>
    withNode({ tip: 20 }, async (node) => {
      const heightOf = ({ json }: NodeAnswer) => json.result.block.header.height;
      assert.equal(heightOf(await getFrom(`${node.rpc_url}/block?height=%2215%22`)), '15');
      assert.equal(heightOf(await getFrom(`${node.rpc_url}/block`)), '20');
      assert.equal(heightOf(await postTo(node.rpc_url, call('block', '15'))), '15');
    }));

  it('finds txs by hash', () =>
    withNode({ tip: 24 }, async (node) => {
      const hash = txHash(rawTxs(evm.bodies(25)!.block)[0]!);
      const path = `${node.rpc_url}/tx?hash=0x${hash}`;
      assert.match((await getFrom(path)).text, /not found/);
      node.setTip(25);
      const { result } = (await getFrom(path)).json;
      assert.deepEqual([result.hash, result.height, result.index], [hash, '25', 0]);
    }));

  it('counts requests by kind', () =>
    withNode({}, async (node) => {
      await getFrom(`${node.rpc_url}/status`);
      await getFrom(`${node.rpc_url}/block?height=1`);
      await postTo(node.json_rpc_url, [call('eth_blockNumber'), call('eth_blockNumber')]);
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
        const { sync_info } = await statusOf(node);
        assert.deepEqual([sync_info.earliest_block_height, sync_info.latest_block_height], ['100', '149']);
        const below = await getFrom(`${node.rpc_url}/block?height=99`);
        assert.equal(below.json.error.data, 'height 99 is not available, lowest height is 100');
        const { txs, pagination } = await txsOf(node, 110);
        assert.deepEqual([txs, pagination.total], [[], '1'], 'its REST misses the tx');
      },
    ));
});
