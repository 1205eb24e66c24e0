import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { askHealth, connectRpc } from '../../services/common/rpc/client.js';
import { openTransport, plainTransport, type Transport } from '../../services/common/rpc/transport.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { transportSettings } from '../../services/common/runtime/settings.js';
import { freePort } from '../../tools/bench/processes.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { temporaryFolder } from '../support/folder.js';
import { outputOf } from '../support/output.js';
import { ask } from '../support/rpc.js';

const certificate = (name: string): string => join(packageRoot, 'test/support/tls', name);

const tls = {
  GRPC_TLS_CERT_FILE: certificate('first-service.pem'),
  GRPC_TLS_KEY_FILE: certificate('first-service.key'),
  GRPC_TLS_CA_FILE: certificate('first-ca.pem'),
};

/** Longer than any call of the test takes, in milliseconds. */
const drain_ms = 2_500;

describe('services in processes of their own, with certificates', function () {
  this.timeout(90_000);
  const running: ChildProcess[] = [];
  let node: ReplayNode;
  let transport: Transport;

  before(async () => {
    node = await startReplayNode({ recording: 'wasm' });
    transport = openTransport(loadSettings(transportSettings, tls), createLog('silent'), createMetrics());
  });
  after(async () => {
    for (const child of running) if (child.exitCode === null) child.kill('SIGKILL');
    transport.close();
    await node.close();
  });

  /** Starts a service; @returns what it said so far. */
  function start(name: string, env: Record<string, string>): { child: ChildProcess; said: () => string } {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL(`../../services/${name}/main.js`, import.meta.url))],
      {
        env: {
          ...process.env,
          ...tls,
          VM_TYPE: 'wasm',
          RPC_URL: node.rpc_url,
          REST_URL: node.rest_url,
          OPS_PORT: '0',
          HOST: '127.0.0.1',
          DRAIN_MS: String(drain_ms),
          DATA_DIR: temporaryFolder('process'),
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    running.push(child);
    return { child, said: outputOf(child) };
  }

  it('index a chain, are probed in plain text, and answer for a while after they were told to end', async () => {
    const [blockPort, txPort, blockHealth, txHealth] = await Promise.all([1, 2, 3, 4].map(freePort));
    const [blockAddress, txAddress] = [`localhost:${blockPort}`, `localhost:${txPort}`];
    const isServing = (port: number | undefined, service: string): Promise<boolean> =>
      askHealth(`127.0.0.1:${port}`, service, { deadline: Date.now() + 2_000 }).then(
        (status) => status === 'SERVING',
        () => false,
      );

    const tx = start('tx', {
      GRPC_PORT: String(txPort),
      HEALTH_PORT: String(txHealth),
      BLOCK_SERVICE_ADDR: blockAddress,
    });
    // Without blocks it lives, and is not ready.
    await eventually(() => isServing(txHealth, ''), 'the tx service to live', 30_000);
    assert.equal(await isServing(txHealth, 'tx'), false);
    start('block', { GRPC_PORT: String(blockPort), HEALTH_PORT: String(blockHealth) });
    await eventually(() => isServing(blockHealth, 'block'), 'the block service to be ready', 30_000);
    await eventually(() => isServing(txHealth, 'tx'), 'the tx service to be ready', 30_000);

    const blocks = connectRpc(BlockServiceClient, blockAddress, transport.client);
    const txs = connectRpc(TxServiceClient, txAddress, transport.client);
    const stranger = connectRpc(TxServiceClient, txAddress, plainTransport.client);
    const height = async (): Promise<number> =>
      Number((await ask(txs).getStatus({}, { deadline: Date.now() + 2_000 })).height);
    const last = Number((await ask(blocks).getStatus({})).height);
    await eventually(async () => (await height()) >= last, 'the txs of the chain', 30_000);
    await assert.rejects(ask(stranger).getStatus({}, { deadline: Date.now() + 2_000 }));

    const told = performance.now();
    tx.child.kill('SIGTERM');
    const ended = once(tx.child, 'exit');
    await eventually(async () => !(await isServing(txHealth, 'tx')), 'the tx service to say that it ends');
    assert.equal(await isServing(txHealth, ''), true);
    assert.ok((await height()) >= last);
    assert.deepEqual(await ended, [0, null], tx.said());
    assert.ok(performance.now() - told >= drain_ms);
    for (const client of [blocks, txs, stranger]) client.close();
  });
});
