import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../services/common/runtime/metrics.js';
import { createApp } from '../../services/gateway/app.js';
import { closeClients, connectClients } from '../../services/gateway/clients.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { type Heads, watchHeads } from '../../services/gateway/heads.js';
import { listen } from '../../services/gateway/listen.js';
import { type FakeServices, startFakeServices } from './fake-services.js';

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any JSON
  json(): any;
}

export interface HttpOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** Sends a request whose target is not touched on its way. */
export function send(port: number, path: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, path, agent: false, host: '127.0.0.1', ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const body = Buffer.concat(parts);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          json: () => JSON.parse(body.toString()),
        });
      });
    });
    request.on('error', reject);
    request.end();
  });
}

/** Sends bytes as they are and returns what came back until the connection ended. */
export function sendBytes(port: number, bytes: Buffer | string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end after: ${text}`)));
    socket.on('data', (part) => {
      text += part.toString('latin1');
    });
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)));
    socket.on('close', () => resolve(text));
  });
}

/** A gateway over fake services. */
export interface TestGateway {
  readonly fakes: FakeServices;
  readonly port: number;
  readonly heads: Heads;
  readonly metrics: Metrics;
  get(path: string, options?: HttpOptions): Promise<HttpAnswer>;
  /** How many answers came from the cache, or from where else. */
  cacheCount(result: 'hit' | 'miss' | 'joined' | 'bypass'): Promise<number>;
  stop(): Promise<void>;
}

/** Starts fakes and a gateway of this configuration, and waits until it hears every service that it has. */
export async function startTestGateway(env: Record<string, string> = {}): Promise<TestGateway> {
  const fakes = await startFakeServices();
  const config = loadSettings(gatewaySettings, {
    BLOCK_SERVICE_ADDR: fakes.block_address,
    TX_SERVICE_ADDR: fakes.tx_address,
    NFT_SERVICE_ADDR: fakes.nft_address,
    RICHLIST_SERVICE_ADDR: fakes.richlist_address,
    ...env,
  });
  const log = createLog('silent');
  const metrics = createMetrics();
  const clients = connectClients(config);
  const heads = watchHeads(clients, log, config.VM_TYPE);
  const app = createApp({ config, clients, heads, log, metrics, version: '1.2.3', commit_hash: 'abc' });
  const server = await listen(app, '127.0.0.1', 0, {
    max_connections: config.MAX_CONNECTIONS,
    onFull: () => metrics.limits.inc({ service: 'gateway', limit: 'MAX_CONNECTIONS' }),
  });
  const everywhere = ['block', 'tx', 'nft'] as const;
  const heard = config.VM_TYPE === 'evm' ? ([...everywhere, 'richlist'] as const) : everywhere;
  await until(() => heard.every((owner) => heads.current[owner].version !== undefined));
  return {
    fakes,
    port: server.port,
    heads,
    metrics,
    get: (path, options) => send(server.port, path, options),
    cacheCount: async (result) => {
      const { values } = await metrics.cache.get();
      return values.find((value) => value.labels.result === result)?.value ?? 0;
    },
    stop: async () => {
      await server.close(1_000);
      await heads.close();
      closeClients(clients);
      await fakes.stop();
    },
  };
}

/** Waits until something holds; fails after twenty seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 20_000; Date.now() < end; await delay(5)) {
    if (await holds()) return;
  }
  throw new Error('it did not come true within twenty seconds');
}
