import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { createEndpoints } from '../../services/common/chain/endpoints.js';
import { watchTip } from '../../services/common/chain/tip.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { createBell } from '../../services/common/signal.js';
import { eventually } from '../support/block.js';

const announce = (height: number, chain_id = 'rollup-1', padding = 0): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: {
      data: { value: { header: { chain_id, height: String(height) } } },
      padding: 'x'.repeat(padding),
    },
  });

describe('announcements of blocks by the node', () => {
  it('are headers of this chain, and a message of megabytes is not read', async () => {
    const subscriptions: string[] = [];
    const server = createServer((_, response) => {
      const sync_info = { latest_block_height: '5', earliest_block_height: '1' };
      response.end(JSON.stringify({ result: { sync_info, node_info: { network: 'rollup-1' } } }));
    });
    const sockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
    sockets.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('message', (text) => {
        subscriptions.push(String(text));
        if (subscriptions.length === 1) {
          for (const one of [announce(900, 'other-1'), announce(6), announce(901, 'rollup-1', 4_000_000)])
            socket.send(one);
        } else socket.send(announce(7));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const stop = new AbortController();
    const log = createLog('silent');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const rpc = createEndpoints('rpc', [url], {
      ...{ log, metrics: createMetrics(), timeout_ms: 5_000, connections: 2 },
    });
    const heard = new Set<number>();
    const watching = watchTip({
      ...{ rpc, log, signal: stop.signal, poll_ms: 50, chain_id: 'rollup-1', wake: createBell() },
      onStatus: ({ latest_height }) => heard.add(latest_height),
    });
    try {
      // The connection that sent too much is closed, and another one opened.
      await eventually(async () => heard.has(7), 'the block after that', 20_000);
      assert.deepEqual([...heard].sort(), [5, 6, 7]);
      assert.match(subscriptions[0] ?? '', /tm\.event='NewBlockHeader'/);
    } finally {
      stop.abort();
      await watching;
      await rpc.close();
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
