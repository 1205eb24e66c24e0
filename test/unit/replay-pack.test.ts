import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateChain } from '../../tools/replay/generate.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { openPack, readMeta } from '../../tools/replay/pack/read.js';
import { preparePack } from '../../tools/replay/pack/write.js';
import { loadRecording } from '../../tools/replay/recording.js';
import type { ChainSource } from '../../tools/replay/types.js';
import { temporaryFolder } from '../support/folder.js';

interface Asking {
  path: string;
  method?: string;
  body?: string;
}

/** The two nodes: `ready` answers out of a pack, `slow` without one. */
interface Pair {
  ready: ReplayNode;
  slow: ReplayNode;
  /** blocks that were made for the ready node since the last look */
  blocksMade(): number;
}

async function withPair(source: ChainSource, body: (pair: Pair) => Promise<void>): Promise<void> {
  const folder = temporaryFolder('pack');
  const pack_path = join(folder, 'deep', 'chain.pack');
  let made = 0;
  const counting: ChainSource = {
    ...source,
    bodies(height) {
      made++;
      return source.bodies(height);
    },
  };
  const nodes: ReplayNode[] = [];
  try {
    assert.equal(await preparePack(source, pack_path), true);
    nodes.push(await startReplayNode({ recording: counting, pack_path }));
    nodes.push(await startReplayNode({ recording: source }));
    const [ready, slow] = nodes as [ReplayNode, ReplayNode];
    const blocksMade = () => {
      const count = made;
      made = 0;
      return count;
    };
    blocksMade();
    await body({ ready, slow, blocksMade });
  } finally {
    for (const node of nodes) await node.close();
  }
}

async function answer(node: ReplayNode, { path, method, body }: Asking): Promise<unknown> {
  const response = await fetch(node.url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body === undefined ? {} : { body }),
  });
  const { date: _date, ...headers } = Object.fromEntries(response.headers);
  return {
    status: response.status,
    headers,
    body: Buffer.from(await response.arrayBuffer()).toString('latin1'),
  };
}

async function sameAnswers({ ready, slow }: Pair, askings: readonly Asking[]): Promise<void> {
  ready.resetRequests();
  slow.resetRequests();
  for (const asking of askings) {
    const [is, want] = [await answer(ready, asking), await answer(slow, asking)];
    // not deepEqual's own message: it would print the bodies
    assert.ok(JSON.stringify(is) === JSON.stringify(want), `another answer to ${JSON.stringify(asking)}`);
  }
  assert.deepEqual(ready.requests(), slow.requests(), 'counted alike');
}

const call = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });
const hex = (height: number) => `0x${height.toString(16)}`;
const trace = (height: number, id: unknown = 1) =>
  call('debug_traceBlockByNumber', [hex(height), { tracer: 'callTracer' }], id);
const receipts = (height: number, id: unknown = 1) => call('eth_getBlockReceipts', [hex(height)], id);
const post = (path: string, body: unknown): Asking => ({ path, body: JSON.stringify(body) });

/** What an indexer asks about a block, one by one and in batches. */
function usual(height: number): Asking[] {
  const heights = [height, height + 1, height + 2];
  const rpcBatch = heights.flatMap((h) => [
    call('block', { height: String(h) }, h),
    call('block_results', { height: h }, `results ${h} "ü"`),
  ]);
  const evmBatch = heights.flatMap((h) => [receipts(h, h), trace(h, -h)]);
  return [
    { path: `/block?height=${height}` },
    { path: `/rpc/block?height=${height}` },
    { path: `/rpc/block_results?height=${height}` },
    { path: `/block_results?height=${height}` },
    { path: `/cosmos/tx/v1beta1/txs/block/${height}?pagination.limit=1000&pagination.offset=0` },
    { path: `/rest/cosmos/tx/v1beta1/txs/block/${height}?pagination.limit=1000` },
    post('/', receipts(height)),
    post('/evm', receipts(height, 'x')),
    post('/', trace(height)),
    post('/evm/', evmBatch),
    post('/', evmBatch),
    post('/', [receipts(height)]),
    post('/', call('block', { height: String(height) }, 7)),
    post('/rpc', rpcBatch),
    post('/', rpcBatch),
  ];
}

/** Other things, and usual ones in unusual words: what does not come from the pack must be as without it. */
function unusual(first: number, last: number): Asking[] {
  const paths = [
    '/status',
    '/block',
    '/block?height=',
    '/block?height=0',
    '/block?height=-1',
    '/block?height=007',
    `/block?height=%22${first}%22`,
    `/block?height="${first}"`,
    `/block?height=${first}&height=${first + 1}`,
    `/block?height=${last + 1}`,
    '/block?height=99999999999',
    '/block_results?height=x',
    `/blockx?height=${first}`,
    `/rest/block?height=${first}`,
    `/evm/block?height=${first}`,
    `/rpc/cosmos/tx/v1beta1/txs/block/${first}?pagination.limit=1000`,
    `/cosmos/tx/v1beta1/txs/block/${first}`,
    `/cosmos/tx/v1beta1/txs/block/${last + 1}?pagination.limit=1000`,
    ...[
      'limit=0',
      'limit=1',
      'limit=2&pagination.offset=1',
      'offset=0',
      'limit=1000&pagination.offset=1',
      'reverse=true',
    ].map((query) => `/cosmos/tx/v1beta1/txs/block/${first + 3}?pagination.${query}`),
    `/cosmos/base/tendermint/v1beta1/blocks/${first}`,
  ];
  const bodies = [
    '',
    ' ',
    '{}',
    '[]',
    'null',
    '[null]',
    '1',
    '{"jsonrpc"',
    `${JSON.stringify(receipts(first + 1))}\n`,
    ` ${JSON.stringify(receipts(first + 1))}`,
    `{"jsonrpc":"2.0","id":1.0,"method":"eth_getBlockReceipts","params":["${hex(first + 1)}"]}`,
    `{"jsonrpc":"2.0","id":"\\u0041","method":"eth_getBlockReceipts","params":["${hex(first + 1)}"]}`,
    `{"id":1,"id":2,"method":"eth_getBlockReceipts","params":["${hex(first + 1)}"]}`,
    `{"method":"eth_getBlockReceipts","params":["${hex(first + 1)}"]}`,
    `{"id":null,"method":"eth_getBlockReceipts","params":["${hex(first + 1)}"]}`,
    ...[
      receipts(last + 1),
      trace(1),
      trace(last + 1),
      [trace(first + 1), trace(1, 2)],
      [receipts(first + 1), call('eth_blockNumber', [], 2)],
      [receipts(first + 1), call('block', { height: String(first) }, 2)],
      [call('block', { height: String(first) }, 2), receipts(first + 1)],
      call('eth_getBlockReceipts', ['latest']),
      call('eth_getBlockReceipts', ['0x0']),
      call('eth_getBlockReceipts', [`0x0${(first + 1).toString(16)}`]),
      call('eth_getBlockReceipts', ['0xA']),
      call('eth_getBlockReceipts', [{ blockNumber: hex(first + 1) }]),
      call('eth_getBlockReceipts', []),
      call('eth_getBlockReceipts', null),
      call('eth_getBlockReceipts', { 0: hex(first + 1) }),
      call('block', [String(first)]),
      call('block', {}),
      call('block', { height: null }),
      call('block', { height: [first] }),
      call('block', { height: String(first), other: 1 }),
      call('toString', {}),
      call('constructor', [hex(first)]),
    ].map((request) => JSON.stringify(request)),
  ];
  return [
    ...paths.map((path) => ({ path })),
    { path: `/block?height=${first}`, method: 'HEAD' },
    { path: `/block?height=${first}`, method: 'PUT', body: '{}' },
    { path: `/block?height=${first}`, body: JSON.stringify(receipts(first + 1)) },
    ...['/', '/rpc', '/evm', '/rest', '/evm/x'].flatMap((path) => bodies.map((body) => ({ path, body }))),
  ];
}

const chain = generateChain({ blocks: 60, txs_per_block: 5, seed: 3, accounts: 50 });
const isUsualOfEvm = ({ path, body }: Asking) => path.includes('evm') || /eth_|debug_/.test(body ?? '');

describe('replay node: answers out of a pack', () => {
  it('gives every usual answer of a generated chain, byte for byte, without making a block', () =>
    withPair(chain, async (pair) => {
      for (const height of [2, 9, 31, 58]) await sameAnswers(pair, usual(height));
      assert.equal(pair.blocksMade(), 0);
      await sameAnswers(pair, usual(1));
    }));

  it('gives every other answer as without it', () =>
    withPair(chain, (pair) => sameAnswers(pair, unusual(1, 60))));

  for (const name of ['evm', 'move', 'wasm-hostile']) {
    it(`gives the answers of the recording ${name}`, () => {
      const recording = loadRecording(name);
      return withPair(recording, async (pair) => {
        for (let height = recording.first; height < recording.last; height += 7) {
          await sameAnswers(
            pair,
            usual(height).filter((asking) => recording.evm || !isUsualOfEvm(asking)),
          );
        }
        await sameAnswers(pair, unusual(recording.first, recording.last));
        if (!recording.evm) await sameAnswers(pair, usual(recording.first).filter(isUsualOfEvm));
      });
    });
  }

  it('shows no block above the tip, and goes on after the end of the chain', () =>
    withPair(chain, async (pair) => {
      for (const tip of [20, 40, 21, 75]) {
        pair.ready.setTip(tip);
        pair.slow.setTip(tip);
        for (const height of [19, 20, 38, 41, 58, 60, 74]) await sameAnswers(pair, usual(height));
      }
    }));

  it('gives way to faults and to forks', () =>
    withPair(chain, async (pair) => {
      const both = [pair.ready, pair.slow];
      const well = JSON.stringify(await Promise.all(usual(15).map((asking) => answer(pair.ready, asking))));
      for (const faults of [
        { fail_one_in: 3, kinds: ['http500' as const, 'html502' as const, 'truncated' as const] },
        { rest_lag: 50 },
        { evm_lag: 50, not_indexed: 'null' as const },
        { stale_one_in: 2, stale_by: 55 },
        { missing_txs: [{ height: 15, index: 1 }] },
        { traces: 'unsupported' as const },
        { receipts: 'null' as const },
        { network: 'another-1' },
        { earliest_height: 20 },
        { earliest_state: 20 },
      ]) {
        for (const node of both) node.faults(faults);
        await sameAnswers(pair, usual(15));
        for (const node of both) node.faults(faults);
        const ill = JSON.stringify(await Promise.all(usual(15).map((asking) => answer(pair.ready, asking))));
        assert.ok(ill !== well, `as when well, under ${JSON.stringify(faults)}`);
      }
      for (const node of both) node.faults({ seed: 5 });
      pair.blocksMade();
      await sameAnswers(pair, usual(9));
      assert.equal(pair.blocksMade(), 0, 'well again');
      for (const node of both) node.fork(10);
      for (const height of [7, 9, 30]) await sameAnswers(pair, usual(height));
    }));
});

describe('replay node: the file of a pack', () => {
  let path: string;
  beforeEach(() => {
    path = join(temporaryFolder('pack'), 'chain.pack');
  });

  it('is made once, and again for another chain', async () => {
    const options = { blocks: 30, txs_per_block: 2, accounts: 10 };
    assert.equal(await preparePack(generateChain(options), path), true);
    const bytes = readFileSync(path);
    assert.equal(await preparePack(generateChain(options), path), false);
    for (const other of [{ seed: 2 }, { blocks: 31 }, { txs_per_block: 3 }, { accounts: 11 }]) {
      const source = generateChain({ ...options, ...other });
      assert.throws(() => openPack(path, source), /is not a pack of chain/);
      assert.equal(await preparePack(source, path), true, JSON.stringify(other));
      openPack(path, source).close();
    }
    assert.equal(await preparePack(generateChain(options), path), true);
    assert.deepEqual(readFileSync(path), bytes, 'the same chain, the same bytes');
  });

  it('is made again when it is damaged, or was not finished', async () => {
    const source = generateChain({ blocks: 30, txs_per_block: 2, accounts: 10 });
    await preparePack(source, path);
    const bytes = readFileSync(path);
    for (const damage of [
      () => truncateSync(path, bytes.length - 1),
      () => truncateSync(path, 0),
      () => writeFileSync(path, 'something else that is longer than a footer'),
      () => writeFileSync(path, Buffer.alloc(64, 0xff)),
    ]) {
      damage();
      assert.equal(readMeta(path), undefined);
      assert.throws(() => openPack(path, source), /is not a pack of chain/);
      writeFileSync(`${path}.new`, bytes.subarray(0, 5_000));
      assert.equal(await preparePack(source, path), true);
      assert.deepEqual(readFileSync(path), bytes);
    }
  });

  it('knows its range, and a chain of empty blocks', async () => {
    const source = generateChain({ blocks: 1, txs_per_block: 1, accounts: 2 });
    await preparePack(source, path);
    const { first, last, most_txs, evm } = readMeta(path)!;
    assert.deepEqual({ first, last, most_txs, evm }, { first: 1, last: 1, most_txs: 1, evm: true });
    await withPair(generateChain({ blocks: 20, txs_per_block: 0, accounts: 2 }), (pair) =>
      sameAnswers(pair, usual(5)),
    );
  });
});
