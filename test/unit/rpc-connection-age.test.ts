import assert from 'node:assert/strict';
import { connectivityState } from '@grpc/grpc-js';
import { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import { askHealth, connectRpc } from '../../services/common/rpc/client.js';
import { serveRpc } from '../../services/common/rpc/server.js';
import { openTransport } from '../../services/common/rpc/transport.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { connectionSettings, transportSettings } from '../../services/common/runtime/settings.js';
import { eventually } from '../support/block.js';

const transportOf = (settings: typeof transportSettings, env: Record<string, string> = {}) =>
  openTransport(loadSettings(settings, env), createLog('silent'), createMetrics());

describe('a gRPC connection', () => {
  /** A server and a client that is connected to it. */
  async function connected(age_ms: string) {
    const server = await serveRpc(
      [],
      ['127.0.0.1:0'],
      transportOf({ ...transportSettings, ...connectionSettings }, { MAX_CONNECTION_AGE_MS: age_ms }),
    );
    server.setServing(true);
    const client = connectRpc(BlockServiceClient, server.address);
    const channel = client.getChannel();
    await new Promise<void>((resolve, reject) =>
      client.waitForReady(Date.now() + 5_000, (error) => (error ? reject(error) : resolve())),
    );
    return {
      address: server.address,
      isReady: () => channel.getConnectivityState(false) === connectivityState.READY,
      close: async () => {
        client.close();
        await server.close(0);
      },
    };
  }

  it('is ended by the server at the age that is set, and another one can be opened', async () => {
    const { address, isReady, close } = await connected('300');
    assert.equal(isReady(), true);
    await eventually(() => !isReady(), 'the end of the connection');
    assert.equal(await askHealth(address, ''), 'SERVING');
    await close();
  });

  it('stays where no age is set, as it does for those who serve nothing', async () => {
    assert.equal(transportOf(transportSettings).max_connection_age_ms, 0);
    const { isReady, close } = await connected('0');
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(isReady(), true);
    await close();
  });
});
