import assert from 'node:assert/strict';
import { type WebSocket, WebSocketServer } from 'ws';
import { createEndpoints } from '../../services/common/chain/endpoints.js';
import { watchTip } from '../../services/common/chain/tip.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { eventually } from '../support/block.js';
import { serveHttp } from '../support/http-server.js';

const announce = (height: number, chain_id = 'rollup-1', padding = 0): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: {
      data: { value: { header: { chain_id, height: String(height) } } },
      padding: 'x'.repeat(padding),
    },
  });

/** A node whose tip the test sets. */
interface FakeNode {
  tip: number;
  /** How often it was asked for its status. */
  asked: number;
  readonly heard: Set<number>;
}

/** Watches the tip of a node while the test runs. @param onSubscribed gets each subscription and its number from 1 on. */
async function watching(
  poll_ms: number,
  onSubscribed: (node: FakeNode, socket: WebSocket, count: number, text: string) => void,
  test: (node: FakeNode) => Promise<void>,
): Promise<void> {
  const node: FakeNode = { tip: 5, asked: 0, heard: new Set() };
  let subscriptions = 0;
  const { server, url, close } = await serveHttp((_, response) => {
    node.asked += 1;
    const sync_info = { latest_block_height: String(node.tip), earliest_block_height: '1' };
    response.end(JSON.stringify({ result: { sync_info, node_info: { network: 'rollup-1' } } }));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
  sockets.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (text) => {
      subscriptions += 1;
      onSubscribed(node, socket, subscriptions, String(text));
    });
  });
  const stop = new AbortController();
  const log = createLog('silent');
  const options = { log, metrics: createMetrics(), timeout_ms: 5_000, connections: 2 };
  const rpc = createEndpoints('rpc', [url], options);
  const tip = watchTip({
    ...{ rpc, log, signal: stop.signal, poll_ms, chain_id: 'rollup-1' },
    onStatus: ({ latest_height }) => node.heard.add(latest_height),
  });
  try {
    await test(node);
  } finally {
    stop.abort();
    await tip;
    await rpc.close();
    for (const socket of sockets.clients) socket.terminate();
    await close();
  }
}

/** What is said in statuses, by URLs in turn, as fast as they are asked. */
async function heardOf(tips: readonly (() => number)[], reached: (heights: readonly number[]) => boolean) {
  const servers = await Promise.all(
    tips.map((tip) =>
      serveHttp((_, response) => {
        const sync_info = { latest_block_height: String(tip()), earliest_block_height: '1' };
        response.end(JSON.stringify({ result: { sync_info, node_info: { network: 'rollup-1' } } }));
      }),
    ),
  );
  const [stop, heard] = [new AbortController(), [] as number[]];
  const options = { log: createLog('silent'), metrics: createMetrics(), timeout_ms: 300, connections: 2 };
  const rpc = createEndpoints(
    'rpc',
    servers.map(({ url }) => url),
    options,
  );
  const watched = watchTip({
    ...{ rpc, log: options.log, signal: stop.signal, poll_ms: 10, chain_id: 'rollup-1', standing_ms: 150 },
    onStatus: ({ latest_height }) => heard.push(latest_height),
  });
  try {
    await eventually(async () => reached(heard), 'the tips');
  } finally {
    stop.abort();
    await watched;
    await rpc.close();
    for (const { close } of servers) await close();
  }
  return heard;
}

describe('the tip of several URLs', () => {
  it('is that of another URL where the first one stands still, or falls back', async () => {
    let tip = 60;
    const heard = await heardOf(
      [() => 20, () => tip++],
      (heights) => heights.filter((h) => h > 60).length > 30,
    );
    // The one that stands is asked now and then whether it has gone on.
    const stale = heard.slice(heard.indexOf(60)).filter((height) => height === 20);
    assert.ok(stale.length < 10, `${stale.length} of ${heard.length}`);
  });

  it('is the lower one where all say so, since a chain may be rolled back', async () => {
    let asked = 0;
    const tip = (): number => (asked++ < 10 ? 60 : 40);
    await heardOf([tip, tip], (heights) => heights.filter((height) => height === 40).length > 20);
  });
});

describe('announcements of blocks by the node', () => {
  it('are headers of this chain, count once the RPC confirms them, and a message of megabytes is not read', () =>
    watching(
      200,
      (node, socket, count, text) => {
        if (count === 1) {
          assert.match(text, /tm\.event='NewBlockHeader'/);
          node.tip = 6;
          for (const one of [announce(900, 'other-1'), announce(6), announce(901, 'rollup-1', 4_000_000)])
            socket.send(one);
        } else if (count === 2) {
          // Heights that the chain does not have, as fast as they are taken.
          for (let n = 0; n < 5_000; n++) socket.send(announce(1_000_000 + n));
          setTimeout(() => {
            node.tip = 7;
            socket.send(announce(7));
          }, 1_000);
        }
      },
      async (node) => {
        // The connection that sent too much is closed, and another one opened.
        await eventually(async () => node.heard.has(7), 'the block after that', 20_000);
        assert.deepEqual([...node.heard].sort(), [5, 6, 7]);
        assert.ok(node.asked < 200, `${node.asked} questions`);
      },
    ));

  it('of a lower height show a rollback of the chain at once, and cost few questions when there was none', () => {
    let send = (_: string): void => {};
    return watching(
      60_000,
      (_, socket) => {
        send = (text) => socket.send(text);
        send(announce(4));
      },
      async (node) => {
        const becomes = async (tip: number): Promise<void> => {
          node.tip = tip;
          const isHeard = (): boolean => {
            send(announce(tip));
            return node.heard.has(tip);
          };
          await eventually(isHeard, `height ${tip}`, 5_000);
        };
        await becomes(6);
        const before = node.asked;
        for (let n = 0; n < 5_000; n++) send(announce(1 + (n % 5)));
        await becomes(7);
        assert.ok(node.asked < before + 10, `${node.asked - before} questions`);
        await becomes(3);
        await becomes(4);
      },
    );
  });
});
