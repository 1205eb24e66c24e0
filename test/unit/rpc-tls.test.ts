import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askHealth } from '../../services/common/rpc/client.js';
import { serveRpc } from '../../services/common/rpc/server.js';
import {
  type ClientSecurity,
  checkTransport,
  openTransport,
  plainTransport,
  type Transport,
} from '../../services/common/rpc/transport.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { transportSettings } from '../../services/common/runtime/settings.js';
import { temporaryFolder } from '../support/folder.js';
import { until } from '../support/gateway-client.js';
import { endsAfterEach } from '../support/suite.js';

const published = join(packageRoot, 'test/support/tls');
const now = () => Date.now() + 5_000;

/** A folder as a mounted Secret is one. */
class Secret {
  readonly folder = temporaryFolder('tls');

  constructor(
    ca: string,
    certificate: string,
    readonly endLater: ReturnType<typeof endsAfterEach>,
  ) {
    this.put(ca, certificate);
  }

  path = (name: string): string => join(this.folder, name);

  put(ca: string, certificate: string): void {
    copyFileSync(join(published, `${ca}-ca.pem`), this.path('ca.crt'));
    copyFileSync(join(published, `${certificate}.key`), this.path('tls.key'));
    copyFileSync(join(published, `${certificate}.pem`), this.path('tls.crt'));
  }

  env(): Record<string, string> {
    return {
      GRPC_TLS_CERT_FILE: this.path('tls.crt'),
      GRPC_TLS_KEY_FILE: this.path('tls.key'),
      GRPC_TLS_CA_FILE: this.path('ca.crt'),
      GRPC_TLS_RELOAD_SECONDS: '1',
    };
  }

  open(env: Record<string, string> = {}, log = createLog('silent'), metrics = createMetrics()): Transport {
    const config = loadSettings(transportSettings, { ...this.env(), ...env }, checkTransport);
    const transport = openTransport(config, log, metrics);
    this.endLater(() => transport.close());
    return transport;
  }
}

describe('gRPC with certificates on both sides', () => {
  const endLater = endsAfterEach();
  const secretOf = (ca: string, certificate: string): Secret => new Secret(ca, certificate, endLater);
  const serve = async (transport: Transport): Promise<string> => {
    const server = await serveRpc([], ['127.0.0.1:0'], transport);
    server.setServing(true);
    endLater(() => server.close(0));
    return server.address.replace('127.0.0.1', 'localhost');
  };
  const isReached = (address: string, security: ClientSecurity): Promise<boolean> =>
    askHealth(address, '', { deadline: now(), security }).then((status) => status === 'SERVING');

  it('is spoken by those who have one of the CA, and by nobody else', async () => {
    const ours = secretOf('first', 'first-service');
    const address = await serve(ours.open());
    assert.equal(await isReached(address, ours.open().client), true);
    await assert.rejects(isReached(address, plainTransport.client), { name: 'RpcError' });
    // Believes the server's CA, but shows a certificate of another.
    const unknown = secretOf('first', 'second-service').open().client;
    await assert.rejects(isReached(address, unknown), { name: 'RpcError' });
    // Shows a right one, but believes another CA.
    const doubting = secretOf('second', 'first-service').open().client;
    await assert.rejects(isReached(address, doubting), /certificate/);
  });

  it('is not spoken to a server of another name, unless that is the name to expect', async () => {
    const address = await serve(secretOf('first', 'first-stranger').open());
    const ours = secretOf('first', 'first-service');
    await assert.rejects(isReached(address, ours.open().client), /altnames|does not match/i);
    const client = ours.open({ GRPC_TLS_SERVER_NAME: 'stranger.test' }).client;
    assert.equal(await isReached(address, client), true);
  });

  it('uses new certificates without a restart, on both sides', async () => {
    const [theirs, ours] = [secretOf('first', 'first-service'), secretOf('first', 'first-service')];
    const metrics = createMetrics();
    const address = await serve(theirs.open({}, undefined, metrics));
    const { client } = ours.open();
    assert.equal(await isReached(address, client), true);
    theirs.put('second', 'second-service');
    await until(async () => !(await isReached(address, client).catch(() => false)));
    ours.put('second', 'second-service');
    await until(() => isReached(address, client).catch(() => false));
    const { values } = await metrics.certificateExpiry.get();
    assert.ok((values[0]?.value ?? 0) > Date.now() / 1_000 + 90 * 365 * 86_400);
  }).timeout(20_000);

  it('keeps what worked while files are half written, and says so once', async () => {
    const secret = secretOf('first', 'first-service');
    const said: string[] = [];
    const log = createLog('silent');
    log.error = ((message: string) => said.push(message)) as never;
    const transport = secret.open({}, log);
    const address = await serve(transport);
    copyFileSync(join(published, 'second-service.key'), secret.path('tls.key'));
    await until(() => said.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /tls\.key is not the private key of .*tls\.crt/);
    assert.equal(await isReached(address, transport.client), true);
    assert.equal(await isReached(address, secretOf('first', 'first-service').open().client), true);
  }).timeout(20_000);

  it('names what is wrong with the files at the start, and never shows the key', () => {
    const secret = secretOf('first', 'first-service');
    const failing = (message: RegExp, env = {}): void =>
      assert.throws(() => secret.open(env), { name: 'UserError', message });
    writeFileSync(secret.path('ca.crt'), 'no pem');
    failing(/ca\.crt is no certificate in PEM$/);
    secret.put('first', 'first-service');
    writeFileSync(secret.path('tls.key'), 'SECRET');
    failing(/tls\.key is not the private key of [^ ]*tls\.crt$/);
    failing(/\/nowhere\/tls\.key cannot be read/, { GRPC_TLS_KEY_FILE: '/nowhere/tls.key' });
    assert.throws(
      () => loadSettings(transportSettings, { GRPC_TLS_CERT_FILE: '/a' }, checkTransport),
      /GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE not set/,
    );
  });
});
