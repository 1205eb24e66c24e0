import type { IncomingMessage, ServerResponse } from 'node:http';
import { status } from '@grpc/grpc-js';
import type { Log } from '../common/runtime/log.js';
import type { Metrics } from '../common/runtime/metrics.js';
import { createLru } from '../common/util/lru.js';
import { createCache } from './cache.js';
import type { Clients } from './clients.js';
import type { GatewaySettings } from './config.js';
import { ProblemError } from './errors.js';
import type { Heads } from './heads.js';
import { createAdmission, createRateLimit } from './http/admission.js';
import { clientAddress, type Exchange, mistakeIn, openExchange, requestIds } from './http/exchange.js';
import { createOutbox } from './http/outbox.js';
import { createSender } from './http/send.js';
import { createRouter, type KnownRequest } from './router.js';
import { createRoutes } from './routes/index.js';
import { createServer } from './serve.js';

/** What the app works with; it opens and closes none of these. */
export interface AppDependencies {
  readonly config: GatewaySettings;
  readonly clients: Clients;
  readonly heads: Pick<Heads, 'current' | 'quiet_ms'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly version: string;
  readonly commit_hash: string;
}

/** The HTTP API as a request listener; listening is somebody else's. */
export interface App {
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** From now on every answer ends its connection, so that a closing server comes to its end. */
  close(): void;
}

/** URLs that are recognised without the router, and the longest of them. */
const memo = { max: 10_000, url_length: 512 };

/** Builds the app. */
export function createApp(dependencies: AppDependencies): App {
  const { config, clients, heads, log, metrics } = dependencies;
  const origins = config.CORS_ENABLED ? config.CORS : [];
  const about = {
    version: dependencies.version,
    commit_hash: dependencies.commit_hash,
    chain_id: config.CHAIN_ID,
    vm: config.VM_TYPE,
    base_path: config.BASE_PATH,
    absent_key: config.PAGINATION_ABSENT_KEY,
  };
  let isStopping = false;
  const reached = (limit: keyof GatewaySettings) => () => metrics.limits.inc({ service: 'gateway', limit });
  const outbox = createOutbox({
    max_bytes: config.UNSENT_MB * 1024 * 1024,
    timeout_ms: config.SEND_TIMEOUT_MS,
    onFull: reached('UNSENT_MB'),
    onSlow: reached('SEND_TIMEOUT_MS'),
  });
  const sender = createSender({ origins, metrics, log, outbox, isStopping: () => isStopping });
  const cache = createCache({
    heads,
    metrics,
    max_bytes: config.CACHE_MB * 1024 * 1024,
    max_age_ms: config.CACHE_MAX_AGE_MS,
  });
  const timeout_ms = config.REQUEST_TIMEOUT_MS;
  const admission = createAdmission(config.MAX_REQUESTS, reached('MAX_REQUESTS'));
  const isShared = config.TRUSTED_PROXIES > 0;
  const server = createServer({
    cache,
    clients,
    heads,
    sender,
    about,
    log,
    admission,
    isShared,
    timeout_ms,
  });
  const known = createLru<string, KnownRequest>(memo.max, { lengthOf: ({ key }) => key.length });
  const route = createRouter({
    routes: createRoutes(about),
    base_path: config.BASE_PATH,
    parameters: { account_prefix: config.ACCOUNT_ADDRESS_PREFIX },
    server,
    sender,
    isCrossOriginAllowed: origins === '*' || origins.length > 0,
    log,
    remember: (exchange: Exchange, request: KnownRequest) => {
      if (exchange.url.length <= memo.url_length) known.set(exchange.url, request);
    },
  });
  const newId = requestIds();
  const secondsToWait = createRateLimit(config.RATE_LIMIT);

  return {
    listener: (request, response) => {
      const client = clientAddress(request, config.TRUSTED_PROXIES);
      const exchange = openExchange(request, response, client, newId);
      const mistake = mistakeIn(request);
      if (mistake !== undefined) {
        server.fail(exchange, mistake);
        return;
      }
      const seconds = secondsToWait?.(client) ?? 0;
      if (seconds > 0) {
        server.fail(exchange, tooMany(seconds));
        return;
      }
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const understood = isRead ? known.get(exchange.url) : undefined;
      if (understood === undefined) route(exchange);
      else server.serve(exchange, understood);
    },
    close: () => {
      isStopping = true;
    },
  };
}

const tooMany = (seconds: number): ProblemError =>
  new ProblemError({
    http: 429,
    code: status.RESOURCE_EXHAUSTED,
    message: `too many requests from this address, try again in ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
  });
