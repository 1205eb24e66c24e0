import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { askHealth } from '../../services/common/rpc/client.js';
import { serveRpc } from '../../services/common/rpc/server.js';
import { ConfigError } from '../../services/common/runtime/config.js';
import { createDispatcher } from '../../services/common/runtime/network.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { type HttpProxy, proxyPassword, startHttpProxy } from '../support/http-proxy.js';
import { endsAfterEach } from '../support/suite.js';

describe('a proxy of HTTP', () => {
  const tls = (name: string): string => readFileSync(join(packageRoot, 'test/support/tls', name), 'utf8');
  const plain = createServer((_, answer) => answer.end('plain'));
  const encrypted = createTlsServer(
    { key: tls('first-service.key'), cert: tls('first-service.pem') },
    (_, answer) => answer.end('encrypted'),
  );
  const listen = (server: Server): Promise<number> =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    });
  const endLater = endsAfterEach();
  let plainPort: number;
  let proxy: HttpProxy;

  before(async () => {
    plainPort = await listen(plain);
    proxy = await startHttpProxy({ 'node.test:80': plainPort, 'weft.test:443': await listen(encrypted) });
  });
  after(() => {
    proxy.close();
    plain.close();
    encrypted.close();
  });

  /** Asks a URL in an environment. @returns what came, and whether the proxy was asked */
  async function ask(
    url: string,
    env: Readonly<Record<string, string>>,
  ): Promise<[string, readonly string[]]> {
    const before = new Set(proxy.asked);
    // What every process has from NODE_EXTRA_CA_CERTS.
    const dispatcher = createDispatcher({ requestTls: { ca: tls('first-ca.pem') } } as object, env);
    endLater(() => dispatcher.destroy());
    const { body, statusCode } = await request(url, { dispatcher });
    const text = await body.text();
    return [
      statusCode === 200 ? text : String(statusCode),
      [...proxy.asked].filter((one) => !before.has(one)),
    ];
  }

  it('is asked for what is not encrypted, with its password', async () => {
    assert.deepEqual(await ask('http://node.test/status', { HTTP_PROXY: proxy.url }), [
      'plain',
      ['http node.test:80'],
    ]);
    const wrong = proxy.url.replace(proxyPassword, 'wrong');
    await assert.rejects(ask('http://node.test/status', { HTTP_PROXY: wrong }), /407/);
    await assert.rejects(ask('https://weft.test/', { HTTPS_PROXY: wrong }), /407/);
  });

  it('gives a tunnel to what is encrypted', async () => {
    assert.deepEqual(await ask('https://weft.test/', { HTTPS_PROXY: proxy.url }), [
      'encrypted',
      ['CONNECT weft.test:443'],
    ]);
  });

  it('is known by names in lower case as well, of which those in upper case win', async () => {
    assert.equal((await ask('http://node.test/', { http_proxy: proxy.url }))[0], 'plain');
    const nowhere = 'http://127.0.0.1:1';
    assert.equal(
      (await ask('http://node.test/', { HTTP_PROXY: proxy.url, http_proxy: nowhere }))[0],
      'plain',
    );
  });

  it('is never asked for this machine, nor for what NO_PROXY names', async () => {
    const nowhere = { HTTP_PROXY: 'http://127.0.0.1:1' };
    assert.equal((await ask(`http://127.0.0.1:${plainPort}/`, nowhere))[0], 'plain');
    assert.equal((await ask(`http://localhost:${plainPort}/`, nowhere))[0], 'plain');
    for (const NO_PROXY of ['*', 'node.test', '.test', 'other, node.test:80', 'test'])
      await assert.rejects(
        ask('http://node.test/', { ...nowhere, NO_PROXY }),
        /ENOTFOUND|EAI_AGAIN/,
        NO_PROXY,
      );
    for (const NO_PROXY of ['', 'de.test', 'node.test:81', 'node'])
      await assert.rejects(ask('http://node.test/', { ...nowhere, NO_PROXY }), /ECONNREFUSED/, NO_PROXY);
  });

  it('is not asked for calls between services', async () => {
    const server = await serveRpc([], ['127.0.0.1:0']);
    server.setServing(true);
    // What grpc-js reads.
    process.env['grpc_proxy'] = 'http://127.0.0.1:1';
    endLater(() => {
      delete process.env['grpc_proxy'];
      return server.close(0);
    });
    assert.equal(await askHealth(server.address, '', { deadline: Date.now() + 5_000 }), 'SERVING');
  });

  it('that is no URL is named, and not shown', () => {
    assert.throws(
      () => createDispatcher({}, { HTTPS_PROXY: `weft:${proxyPassword}@proxy:3128` }),
      (error) =>
        error instanceof ConfigError &&
        /HTTPS_PROXY/.test(error.message) &&
        !error.message.includes(proxyPassword),
    );
  });
});
