import assert from 'node:assert/strict';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { freePort } from '../../tools/bench/processes.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { type Child, startChild } from '../support/attack/child.js';
import {
  type Attack,
  type HostileNode,
  hostileCollection,
  lies,
  startHostileNode,
} from '../support/attack/hostile-node.js';
import { eventually } from '../support/block.js';
import { expectViews } from '../support/views.js';

const GiB = 1024 ** 3;

/** What `weft start` may have at its peak, and a writer that runs alone. */
const [mostInOne, mostAlone] = [1.5 * GiB, GiB];

/** How long a program may take under attack; the machine may have other work. */
const patience_ms = 180_000;

describe('under attack by the rollup node', () => {
  let replay: ReplayNode;
  let cleanUp: (() => Promise<unknown>)[];
  beforeEach(async () => {
    replay = await startReplayNode({ recording: 'evm' });
    cleanUp = [() => replay.close()];
  });
  afterEach(async () => {
    for (const step of cleanUp.reverse()) await step();
  });

  const hostile = async (attack: Attack): Promise<HostileNode> => {
    const node = await startHostileNode(replay, attack);
    cleanUp.push(() => node.close());
    return node;
  };

  /** Starts a program against nodes, of which the first is asked first. */
  const start = (
    program: readonly string[],
    nodes: readonly HostileNode[],
    env: Record<string, string>,
  ): Child => {
    const urls = (of: (node: HostileNode) => string): string => nodes.map(of).join();
    const child = startChild(program, {
      RPC_URL: urls(({ rpc_url }) => rpc_url),
      REST_URL: urls(({ rest_url }) => rest_url),
      JSON_RPC_URL: urls(({ json_rpc_url }) => json_rpc_url),
      ...env,
    });
    cleanUp.push(() => child.stop());
    return child;
  };

  /** `weft start`, and what it says of itself. */
  const startAll = async (nodes: readonly HostileNode[], env: Record<string, string> = {}) => {
    const [port, ops] = [await freePort(), await freePort()];
    const ports = { PORT: String(port), OPS_PORT: String(ops) };
    const grpc = { BLOCK_GRPC_PORT: '0', TX_GRPC_PORT: '0', NFT_GRPC_PORT: '0', RICHLIST_GRPC_PORT: '0' };
    const child = start(['bin/weft.js', 'start'], nodes, { ...ports, ...grpc, ...env });
    const get = (url: string): Promise<string> =>
      fetch(url).then(
        (response) => response.text(),
        () => '',
      );
    const metrics = () => get(`http://127.0.0.1:${ops}/metrics`);
    return {
      child,
      metrics,
      api: (path: string) => get(`http://127.0.0.1:${port}${path}`),
      ready: () => get(`http://127.0.0.1:${ops}/readyz`),
      /** Resolves once every service has a height, and fails when the process ends. */
      reaches: (
        height: number,
        tracks = ['block/head', 'block/traces', 'tx/head', 'tx/traces', 'nft/head', 'richlist/head'],
      ) =>
        eventually(
          async () => {
            assert.ok(child.isAlive(), `it ended: ${child.output().slice(-2_000)}`);
            child.peak();
            const said = await metrics();
            return tracks.every((track) => heightIn(said, track) >= height);
          },
          `height ${height}`,
          patience_ms,
        ),
    };
  };

  const heightIn = (metrics: string, track: string): number => {
    const [service, name] = track.split('/');
    return Number(
      new RegExp(`weft_height\\{service="${service}",track="${name}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0,
    );
  };

  it('a node that drips is left for the next URL, and is seen in the log and the metrics', async () => {
    const nodes = [await hostile({ drip: '/block?' }), await hostile({})];
    const weft = await startAll(nodes, { NODE_TIMEOUT_MS: '1000', NODE_BATCH: '1' });
    await weft.reaches(replay.tip());
    assert.match(
      await weft.metrics(),
      /weft_node_errors_total\{api="rpc",host="[^"]+",reason="timeout"\} \d/,
    );
    assert.match(weft.child.output(), /no whole answer within 1000 ms \(NODE_TIMEOUT_MS\)/);
  });

  for (const [attack, why] of [
    ['flood', 'the answer is larger than 134217728 bytes'],
    ['dense', 'the answer holds more than 5592405 JSON values'],
  ] as const)
    it(`a node stops the writer, which says where and why, and costs little memory: ${attack}`, async () => {
      const node = await hostile({ [attack]: '/block_results?' });
      const weft = await startAll([node], { NODE_BATCH: '1' });
      await eventually(
        async () => (await weft.ready()).includes('NODE_BLOCK_MB'),
        'readiness to tell',
        patience_ms,
      );
      const host = new URL(node.rpc_url).host;
      assert.match(
        await weft.ready(),
        new RegExp(`block \\d+ cannot be indexed.*${host}/block_results\\?height=\\d+: ${why}`),
      );
      assert.match(
        await weft.metrics(),
        /weft_limit_reached_total\{service="block",limit="NODE_BLOCK_MB"\} \d/,
      );
      assert.ok(weft.child.isAlive());
      assert.ok(weft.child.peak() < mostInOne, `${weft.child.peak()} bytes`);
      node.attack({});
      await weft.reaches(replay.tip());
      await eventually(async () => !(await weft.ready()).includes('NODE_BLOCK_MB'), 'readiness', patience_ms);
    });

  it('a node that lies about blocks costs little memory, and an honest one is asked instead', async () => {
    const names = Object.keys(lies) as (keyof typeof lies)[];
    // Of blocks that have a tx.
    const told = Object.fromEntries(names.map((name, index) => [9 + 2 * index, name]));
    const nodes = [await hostile({ lies: told }), await hostile({})];
    const weft = await startAll(nodes);
    await weft.reaches(replay.tip());
    assert.ok(weft.child.peak() < mostInOne, `${weft.child.peak()} bytes`);
    for (const height of Object.keys(told)) {
      const said = (await (await fetch(`${replay.rpc_url}/block?height=${height}`)).json()) as Said;
      const { block } = JSON.parse(await weft.api(`/indexer/block/v1/blocks/${height}`)) as ShownBlock;
      assert.equal(block.hash, said.result.block_id.hash, `block ${height}: ${told[Number(height)]}`);
    }
    const metrics = await weft.metrics();
    for (const reason of ['malformed', 'contradicts', 'incomplete'])
      assert.match(metrics, new RegExp(`weft_node_errors_total\\{[^}]*reason="${reason}"\\} \\d`));
  });

  it('a node that lies for good stops the writer, which says so', async () => {
    const node = await hostile({ lies: { 50: 'another parent' } });
    const weft = await startAll([node]);
    await eventually(
      async () => (await weft.ready()).includes('block 50 cannot be indexed'),
      'readiness to tell',
      patience_ms,
    );
    node.attack({});
    await weft.reaches(replay.tip());
    await eventually(async () => !(await weft.ready()).includes('block 50'), 'readiness', patience_ms);
  });

  it('hundreds of tokens with uris of 1 MB are indexed with what is kept of them', async () => {
    const node = await hostile({ uri: 1_000_000, name: 1_000_000, mints: 400, heights: [59, 59] });
    const grpc = await freePort();
    const weft = await startAll([node], { NFT_GRPC_PORT: String(grpc) });
    await weft.reaches(replay.tip());
    await eventually(
      async () => {
        weft.child.peak();
        const path = `/indexer/nft/v1/tokens/by_collection/${hostileCollection}?pagination.limit=1&pagination.offset=399`;
        return /"uri":"U{16384}"/.test(await weft.api(path));
      },
      'the last of the uris',
      patience_ms,
    );
    await expectViews({ nft: `127.0.0.1:${grpc}` });
    assert.ok(weft.child.isAlive());
    assert.ok(weft.child.peak() < mostInOne, `${weft.child.peak()} bytes`);
    assert.match(
      await weft.metrics(),
      /weft_limit_reached_total\{service="nft",limit="NFT_URI_BYTES"\} \d{3}/,
    );
    assert.match(weft.child.output(), /NFT_URI_BYTES/);
  });

  it('block results of 84 MB are indexed, and a trace of 520 MB counts as unavailable', async () => {
    // Of the 8 txs of a block.
    const node = await hostile({
      events: 10_500_000,
      trace: { calls: 2_600, input: 100_000 },
      heights: [52, 57],
    });
    const weft = await startAll([node]);
    await weft.reaches(replay.tip());
    assert.ok(weft.child.peak() < mostInOne, `${weft.child.peak()} bytes`);
    assert.match(await weft.metrics(), /weft_problems_total\{service="block",kind="trace_unavailable"\} \d/);
    assert.match(
      weft.child.output(),
      /cannot trace block \d+.*larger than 134217728 bytes \(NODE_BLOCK_MB\)/,
    );
  });

  it('they are indexed also by writers that run alone, each with less memory', async () => {
    const node = await hostile({
      events: 10_500_000,
      trace: { calls: 640, input: 100_000 },
      heights: [52, 52],
    });
    const [grpc, ops] = [await freePort(), await freePort()];
    const block = start([`${distOf('services/block/main.js')}`], [node], { GRPC_PORT: String(grpc) });
    const own = { GRPC_PORT: '0', BLOCK_SERVICE_ADDR: `127.0.0.1:${grpc}` };
    const tx = start([distOf('services/tx/main.js')], [node], { ...own, OPS_PORT: String(ops) });
    await eventually(
      async () => {
        assert.ok(block.isAlive() && tx.isAlive(), block.output() + tx.output());
        const said = await fetch(`http://127.0.0.1:${ops}/metrics`).then(
          (response) => response.text(),
          () => '',
        );
        return heightIn(said, 'tx/head') >= replay.tip() && heightIn(said, 'tx/traces') >= replay.tip();
      },
      'the txs',
      patience_ms,
    );
    for (const writer of [block, tx]) assert.ok(writer.peak() < mostAlone, `${writer.peak()} bytes`);
  });
});

/** What is read of /block, and of a block of the API. */
interface Said {
  readonly result: { readonly block_id: { readonly hash: string } };
}
interface ShownBlock {
  readonly block: { readonly hash: string };
}

const distOf = (file: string): string =>
  new URL(`../../${file}`, import.meta.url).pathname.slice(packageRoot.length);
