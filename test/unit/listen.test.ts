import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { serveRpc } from '../../services/common/rpc/server.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { hostPort, reachable } from '../../services/common/runtime/network.js';
import { serveOps } from '../../services/common/runtime/ops.js';
import { serverSettings } from '../../services/common/runtime/settings.js';
import { serveHttp } from '../support/http-server.js';
import { endsAfterEach } from '../support/suite.js';

const ready = () => ({ ready: true, reason: '' });
const hostOf = (HOST: string): string => loadSettings(serverSettings, { HOST }).HOST;

describe('what servers listen on', () => {
  it('is written with IPv6 addresses in brackets', () => {
    assert.deepEqual(
      ['127.0.0.1', '::', '::1', 'example.org'].map((host) => hostPort(host, 7001)),
      ['127.0.0.1:7001', '[::]:7001', '[::1]:7001', 'example.org:7001'],
    );
  });

  it('is shown as an address that can be called', () => {
    assert.deepEqual(
      ['0.0.0.0', '::', '::1', '10.0.0.1'].map((host) => reachable(host, 80)),
      ['localhost:80', 'localhost:80', '[::1]:80', '10.0.0.1:80'],
    );
  });

  it('may be given in brackets', () => {
    assert.deepEqual(['[::1]', '::', '127.0.0.1'].map(hostOf), ['::1', '::', '127.0.0.1']);
  });

  it('may be every address, of IPv6 too', async () => {
    const rpc = await serveRpc([], [hostPort('::', 0)]);
    const ops = await serveOps('::', 0, createMetrics(), ready);
    assert.match(rpc.address, /^\[::\]:[1-9]\d*$/);
    assert.equal((await fetch(`http://[::1]:${ops.port}/readyz`)).status, 200);
    await ops.close();
    await rpc.close(100);
  });

  it('is named in one sentence when another program has it', async () => {
    const { port, close } = await serveHttp(() => {});
    const isSentence = (error: unknown): boolean =>
      error instanceof UserError &&
      error.message === `nothing can listen on 127.0.0.1:${port}: another program has that port`;
    await assert.rejects(serveRpc([], [hostPort('127.0.0.1', port)]), isSentence);
    await assert.rejects(serveOps('127.0.0.1', port, createMetrics(), ready), isSentence);
    await close();
    await assert.rejects(serveOps('192.0.2.1', 0, createMetrics(), ready), {
      message: 'nothing can listen on 192.0.2.1:0: this machine has no such address',
    });
  });
});

describe('the port of /metrics', () => {
  const endLater = endsAfterEach();

  it('answers whoever asks while somebody floods it, and collects the metrics a few times a second', async () => {
    const metrics = createMetrics();
    let collections = 0;
    const collect = metrics.registry.metrics.bind(metrics.registry);
    metrics.registry.metrics = async () => {
      collections += 1;
      return collect();
    };
    const ops = await serveOps('127.0.0.1', 0, metrics, ready);
    const began_ms = performance.now();
    const flood: Socket[] = [];
    const request = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
    for (let count = 0; count < 600; count++) {
      const socket = connect(ops.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(request.repeat(20));
      flood.push(socket.pause());
    }
    endLater(() => {
      for (const socket of flood) socket.destroy();
      return ops.close();
    });
    for (const path of ['readyz', 'metrics']) {
      const answer = await fetch(`http://127.0.0.1:${ops.port}/${path}`);
      assert.equal(answer.status, 200);
      assert.ok((await answer.text()).length > 0);
    }
    const rounds = (performance.now() - began_ms) / 250;
    assert.ok(collections <= rounds + 2, `${collections} collections`);
  });
});
