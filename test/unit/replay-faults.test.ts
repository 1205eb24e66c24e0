import assert from 'node:assert/strict';
import { type FaultKind, makeFaults, mulberry32 } from '../../tools/replay/faults.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { call, getFrom, postTo } from '../support/node-client.js';
import { startBefore } from '../support/suite.js';

/** How a request ended, in a word. */
async function outcome(url: string, init: RequestInit = {}): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(300), ...init });
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? 'timeout' : 'no answer';
  }
  let text: string;
  try {
    text = await response.text();
  } catch {
    return 'cut';
  }
  if (response.status !== 200) return `${response.status} ${response.headers.get('content-type')}`;
  try {
    JSON.parse(text);
    return 'ok';
  } catch {
    return 'bad json';
  }
}

const evm = async (node: ReplayNode, method: string, ...params: unknown[]) =>
  (await postTo(node.json_rpc_url, call(method, ...params))).json;

async function latest(node: ReplayNode) {
  const { sync_info, node_info } = (await getFrom(`${node.rpc_url}/status`)).json.result;
  return { ...sync_info, ...node_info };
}

describe('replay node: faults', () => {
  const node = startBefore(
    () => startReplayNode({ recording: 'evm', tip: 100 }),
    (node) => node.close(),
  );
  afterEach(() => node.faults({}));

  const expected: Record<FaultKind, string> = {
    http500: '500 application/json',
    html502: '502 text/html',
    http429: '429 text/plain',
    cut: 'cut',
    truncated: 'bad json',
    timeout: 'timeout',
    reset: 'no answer',
  };
  for (const [kind, want] of Object.entries(expected)) {
    it(`${kind} shows as: ${want}`, async () => {
      node.faults({ fail_one_in: 1, kinds: [kind as FaultKind] });
      assert.equal(await outcome(`${node.rpc_url}/block?height=25`), want);
      assert.equal(await outcome(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/25`), want);
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockReceipts","params":["0x19"]}';
      assert.equal(await outcome(node.json_rpc_url, { method: 'POST', body }), want);
      node.faults({});
      assert.equal(await outcome(`${node.rpc_url}/block?height=25`), 'ok');
    });
  }

  it('come as often as told, in the same order for the same seed', async () => {
    const walk = async (seed: number) => {
      node.faults({ seed, fail_one_in: 4, kinds: ['http500', 'html502'] });
      const seen: string[] = [];
      for (let i = 0; i < 80; i++) seen.push(await outcome(`${node.rpc_url}/health`));
      return seen;
    };
    const first = await walk(7);
    assert.deepEqual(await walk(7), first);
    assert.notDeepEqual(await walk(8), first);
    const failed = first.filter((o) => o !== 'ok');
    assert.ok(failed.length > 8 && failed.length < 36, `${failed.length} of 80`);
    assert.equal(new Set(failed).size, 2);
  });

  it('can be kept to an API, to some requests, to a number of times', async () => {
    node.faults({ fail_one_in: 1, kinds: ['http500'], apis: ['rest'] });
    assert.equal(await outcome(`${node.rpc_url}/health`), 'ok');
    assert.equal(await outcome(`${node.rest_url}/opinit/opchild/v1/params`), '500 application/json');
    node.faults({ fail_one_in: 1, kinds: ['http500'], matching: /height=9\b/ });
    assert.equal(await outcome(`${node.rpc_url}/block?height=9`), '500 application/json');
    assert.equal(await outcome(`${node.rpc_url}/block?height=90`), 'ok');
    node.faults({ fail_one_in: 1, kinds: ['http500'], fail_times: 2 });
    const three = [];
    for (let i = 0; i < 3; i++) three.push(await outcome(`${node.rpc_url}/health`));
    assert.deepEqual(three, ['500 application/json', '500 application/json', 'ok']);
  });

  it('slow every answer', async () => {
    node.faults({ latency_ms: 80 });
    const start = performance.now();
    await outcome(`${node.rpc_url}/health`);
    assert.ok(performance.now() - start >= 75);
  });

  it('answer for an older height now and then, as behind a load balancer', async () => {
    node.faults({ stale_one_in: 3, stale_by: 7 });
    const heights = new Map<string, number>();
    for (let i = 0; i < 60; i++) {
      const height = (await latest(node)).latest_block_height;
      heights.set(height, (heights.get(height) ?? 0) + 1);
    }
    assert.deepEqual([...heights.keys()].sort(), ['100', '93']);
  });

  it('let REST lag behind RPC', async () => {
    node.faults({ rest_lag: 2 });
    assert.equal((await latest(node)).latest_block_height, '100');
    assert.equal(await outcome(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/98`), 'ok');
    assert.equal(await outcome(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/99`), '500 application/json');
  });

  it('let the EVM index lag: fewer blocks, empty lists or null', async () => {
    node.faults({ evm_lag: 75 });
    assert.equal((await evm(node, 'eth_blockNumber')).result, '0x19');
    assert.equal((await evm(node, 'eth_getBlockReceipts', '0x19')).result.length, 1);
    assert.deepEqual((await evm(node, 'eth_getBlockReceipts', '0x1b')).result, []);
    assert.equal((await evm(node, 'eth_getBlockReceipts', '0x65')).result, null);
    node.faults({ evm_lag: 75, not_indexed: 'null' });
    assert.equal((await evm(node, 'eth_getBlockReceipts', '0x1b')).result, null);
    node.faults({});
    assert.equal((await evm(node, 'eth_getBlockReceipts', '0x1b')).result.length, 1);
  });

  it('leave a tx out of a REST block, once or for good', async () => {
    const txs = async () =>
      (await getFrom(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/25`)).json.txs.length;
    node.faults({ missing_txs: [{ height: 25, index: 0, times: 1 }] });
    assert.deepEqual([await txs(), await txs()], [0, 1]);
    node.faults({ missing_txs: [{ height: 25, index: 0 }] });
    assert.deepEqual([await txs(), await txs(), await txs()], [0, 0, 0]);
  });

  it('switch traces off, or make them slow, and make receipts null', async () => {
    assert.equal((await evm(node, 'debug_traceBlockByNumber', '0x19', {})).result.length, 1);
    const genesis = await evm(node, 'debug_traceBlockByNumber', '0x1', {});
    assert.equal(genesis.error.message, 'genesis is not traceable');
    node.faults({ traces: 'unsupported', receipts: 'null' });
    assert.equal((await evm(node, 'debug_traceBlockByNumber', '0x19', {})).error.code, -32601);
    assert.equal((await evm(node, 'eth_getBlockReceipts', '0x19')).result, null);
    node.faults({ traces: 'slow', traces_latency_ms: 500 });
    const start = performance.now();
    const answered: string[] = [];
    await Promise.all([
      evm(node, 'debug_traceBlockByNumber', '0x19', {}).then(() => answered.push('traces')),
      evm(node, 'eth_blockNumber').then(() => answered.push('height')),
    ]);
    assert.deepEqual(answered, ['height', 'traces']);
    assert.ok(performance.now() - start >= 495);
  });

  it('restart the node as another chain', async () => {
    node.faults({ network: 'somebody-else-1' });
    assert.equal((await latest(node)).network, 'somebody-else-1');
    const header = await getFrom(`${node.rpc_url}/block?height=3`);
    assert.match(header.text, /"chain_id":"somebody-else-1"/);
    const info = await getFrom(`${node.rest_url}/cosmos/base/tendermint/v1beta1/node_info`);
    assert.match(info.text, /"network":"somebody-else-1"/);
  });

  it('prune blocks and state', async () => {
    node.faults({ earliest_height: 50 });
    assert.equal((await latest(node)).earliest_block_height, '50');
    const below = await getFrom(`${node.rpc_url}/block?height=49`);
    assert.equal(below.status, 500);
    assert.match(below.text, /"data":"height 49 is not available, lowest height is 50"/);
    const rest = await getFrom(`${node.rest_url}/cosmos/tx/v1beta1/txs/block/49`);
    assert.match(rest.text, /height 49 is not available/);
    node.faults({ earliest_state: 60 });
    assert.equal(await outcome(`${node.rpc_url}/block?height=49`), 'ok');
    const gone = await getFrom(`${node.rest_url}/cosmos/auth/v1beta1/module_accounts`, 59);
    assert.match(gone.text, /failed to load state at height 59/);
    const name = { to: '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9', data: '0x06fdde03' };
    assert.equal((await evm(node, 'eth_call', name, '0x3b')).error.code, -32000);
  });
});

describe('decisions about faults', () => {
  it('use every kind when none is named, except timeouts', () => {
    const faults = makeFaults({ fail_one_in: 1 });
    const kinds = new Set(Array.from({ length: 200 }, () => faults.decide('rpc', '').fail));
    assert.deepEqual([...kinds].sort(), ['cut', 'html502', 'http429', 'http500', 'reset', 'truncated']);
  });

  it('do not shift when something unrelated is switched on', () => {
    const plain = makeFaults({ seed: 3, fail_one_in: 5 });
    const more = makeFaults({ seed: 3, fail_one_in: 5, stale_one_in: 2, latency_ms: 1 });
    for (let i = 0; i < 100; i++) assert.equal(more.decide('rpc', '').fail, plain.decide('rpc', '').fail);
  });

  it('draw numbers evenly from [0, 1)', () => {
    const random = mulberry32(42);
    const numbers = Array.from({ length: 10_000 }, random);
    assert.ok(numbers.every((n) => n >= 0 && n < 1));
    const mean = numbers.reduce((a, b) => a + b) / numbers.length;
    assert.ok(Math.abs(mean - 0.5) < 0.02, `mean ${mean}`);
  });
});
