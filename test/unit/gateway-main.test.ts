import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { type Gateway, startGateway } from '../../services/gateway/main.js';
import { readCommitHash, readVersion } from '../../services/gateway/version.js';
import { type FakeServices, startFakeServices } from '../support/fake-services.js';
import { send, until } from '../support/gateway-client.js';
import { outputOf } from '../support/output.js';

const main = fileURLToPath(new URL('../../services/gateway/main.js', import.meta.url));

/** Where the fakes are, for a gateway on any port. */
const environment = (fakes: FakeServices): Record<string, string> => ({
  PORT: '0',
  BLOCK_SERVICE_ADDR: fakes.block_address,
  TX_SERVICE_ADDR: fakes.tx_address,
  RICHLIST_SERVICE_ADDR: fakes.richlist_address,
});

describe('gateway: start and stop', () => {
  let fakes: FakeServices;
  let started: Gateway[];
  beforeEach(async () => {
    fakes = await startFakeServices();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((gateway) => gateway.stop()));
    await fakes.stop();
  });
  async function start(env: Record<string, string> = {}): Promise<Gateway> {
    const config = loadSettings(gatewaySettings, { ...environment(fakes), ...env });
    const gateway = await startGateway({ config, log: createLog('silent'), metrics: createMetrics() });
    started.push(gateway);
    return gateway;
  }
  const statusOf = async ({ port }: Gateway) => (await send(port, '/status')).json();

  it('starts before the services do, is ready when one is heard, and not while it stops', async () => {
    const gateway = await start();
    await until(() => gateway.readiness().ready);
    assert.equal((await statusOf(gateway)).height, 5);
    const stopping = gateway.stop();
    assert.deepEqual(gateway.readiness(), { ready: false, reason: 'stopping' });
    await stopping;
    await assert.rejects(send(gateway.port, '/status'), /ECONNREFUSED/);
  });

  it('answers while it drains, is not ready, and asks clients to come over another connection', async () => {
    const gateway = await start();
    await until(() => gateway.readiness().ready);
    const headers = { connection: 'keep-alive' };
    assert.notEqual((await send(gateway.port, '/status', { headers })).headers.connection, 'close');
    gateway.drain();
    assert.equal(gateway.readiness().ready, false);
    const answer = await send(gateway.port, '/status', { headers });
    assert.deepEqual([answer.status, answer.headers.connection], [200, 'close']);
  });

  it('reports a port that is taken', async () => {
    const gateway = await start();
    await assert.rejects(start({ PORT: String(gateway.port) }), /another program has that port/);
  });

  it('before the first block the status is a 200 with height 0', async () => {
    Object.assign(fakes.chain, { height: 0, tx_height: 0, internal_tx_height: 0, chain_id: '' });
    const gateway = await start({ CHAIN_ID: 'configured-1' });
    const answer = await send(gateway.port, '/status');
    assert.equal(answer.status, 200);
    const { chain_id, height, internal_tx_height } = answer.json();
    assert.deepEqual([chain_id, height, internal_tx_height], ['configured-1', 0, 0]);
  });

  it('the height is the lower one of blocks and txs', async () => {
    const gateway = await start({ CACHE_MB: '0' });
    fakes.chain.tx_height = 3;
    assert.equal((await statusOf(gateway)).height, 3);
    fakes.chain.height = 2;
    assert.equal((await statusOf(gateway)).height, 2);
  });

  it('without a rich list the status is shown all the same', async () => {
    const gateway = await start();
    await until(async () => (await statusOf(gateway)).rich_list_height === 5);
    await fakes.stopRichlist();
    await until(async () => (await statusOf(gateway)).rich_list_height === 0);
    assert.equal((await send(gateway.port, '/indexer/richlist/v1/GAS')).status, 503);
  });

  it('a rollup without EVM has no rich list, and asks nobody for it', async () => {
    const gateway = await start({ VM_TYPE: 'move', RICHLIST_SERVICE_ADDR: '127.0.0.1:1' });
    assert.equal((await statusOf(gateway)).rich_list_height, 0);
    assert.equal((await send(gateway.port, '/indexer/richlist/v1/umin')).status, 501);
  });

  it('a stop lets running requests finish and ends their connections', async () => {
    const gateway = await start();
    let release = (): void => {};
    fakes.instead.set('listTxs', async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { txs: [], pagination: undefined };
    });
    const agent = new Agent({ keepAlive: true });
    const [idle] = await once(httpGet({ port: gateway.port, path: '/status', agent }), 'response');
    await once(idle.resume(), 'end');
    const running = send(gateway.port, '/indexer/tx/v1/txs');
    await until(() => fakes.calls.some((call) => call.method === 'listTxs'));
    const stopping = gateway.stop();
    await until(() =>
      send(gateway.port, '/status').then(
        () => false,
        () => true,
      ),
    );
    release();
    const answer = await running;
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.connection, 'close');
    await stopping;
    agent.destroy();
  });

  it('a stop does not wait for connections without a request', async () => {
    const gateway = await start({ SHUTDOWN_GRACE_MS: '10000' });
    const unused = connect(gateway.port, '127.0.0.1');
    await once(unused, 'connect');
    await send(gateway.port, '/status');
    const started = Date.now();
    await gateway.stop();
    assert.ok(Date.now() - started < 9_000);
    unused.destroy();
  });

  it('a stop ends requests that outlast the grace period', async () => {
    const gateway = await start({ SHUTDOWN_GRACE_MS: '100' });
    fakes.instead.set('listTxs', () => new Promise(() => {}));
    const running = assert.rejects(send(gateway.port, '/indexer/tx/v1/txs'), /hang up|ECONNRESET/);
    await until(() => fakes.calls.length > 0);
    await gateway.stop();
    await running;
  });

  it('runs on its own and ends with code 0 at SIGTERM', async () => {
    const env = { ...process.env, ...environment(fakes), OPS_PORT: '0' };
    const child = spawn(process.execPath, [main], { env });
    const said = outputOf(child);
    const ended = once(child, 'exit');
    await until(() => /"msg":"listening"/.test(said()));
    const line = said()
      .split('\n')
      .find((text) => text.includes('listening'));
    assert.equal((await send(JSON.parse(line ?? '').port, '/status')).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });

  it('names every mistake of its environment and ends with code 1', async () => {
    const child = spawn(process.execPath, [main], { env: { ...process.env, PORT: 'x', LOG_LEVEL: 'loud' } });
    const said = outputOf(child);
    assert.deepEqual(await once(child, 'close'), [1, null]);
    assert.match(said(), /PORT is "x"/);
    assert.match(said(), /LOG_LEVEL is "loud"/);
    assert.doesNotMatch(said(), /at .*\.js:\d/);
  });

  it('knows its version and its commit', () => {
    assert.match(readVersion(), /^\d+\.\d+\.\d+/);
    assert.equal(readCommitHash('given'), 'given');
    assert.match(readCommitHash(''), /^([0-9a-f]{40}|unknown)$/);
  });
});
