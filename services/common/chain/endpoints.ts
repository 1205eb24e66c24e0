import { request } from 'undici';
import { createDispatcher } from '../http-proxy.js';
import { sleep } from '../lifecycle.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';

/** Which of a node's three interfaces a URL belongs to. */
export type Api = 'rpc' | 'rest' | 'jsonrpc';

/** Why a request to the node gave no usable answer. */
export type NodeErrorReason =
  | 'timeout'
  | 'connection'
  | 'http_error'
  | 'not_json'
  | 'error_answer'
  | 'behind'
  | 'incomplete'
  | 'wrong_chain';

/** The node gave no usable answer; another URL, or the same one later, may. */
export class NodeError extends Error {
  override name = 'NodeError';

  constructor(
    readonly reason: NodeErrorReason,
    message: string,
    /** What the node itself said, where it did. */
    readonly answer?: { readonly code?: number | undefined; readonly message: string } | undefined,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** A request to one of the URLs. */
export interface NodeRequest {
  /** Path with query, appended to the URL. */
  readonly path: string;
  /** JSON text to POST; GET without. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often it is sent at most before its failure is the caller's. Default 4. */
  readonly attempts?: number | undefined;
}

/** The URLs of one interface, of which the best is used. */
export interface Endpoints {
  readonly api: Api;
  readonly urls: readonly string[];
  /**
   * Sends a request to the URL that is in use, and reads its answer; tries again a few
   * times, on the next URL if there is one, when it fails in a way that passes quickly.
   *
   * @param read turns status and body into the result; what it throws counts against the URL.
   * @throws NodeError
   */
  ask<T>(request: NodeRequest, read: (status: number, body: string) => T): Promise<T>;
  close(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly host: string;
  failures: number;
  /** Not used before this time unless every URL rests (milliseconds since the epoch). */
  restsUntil: number;
}

/** undici's codes for an answer that did not come in time. */
const timeouts = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT']);

const [shortestRest, longestRest] = [200, 30_000];

/** How often a request is sent before its failure is its caller's, and the wait in between. */
const [quickAttempts, quickDelay_ms] = [4, 30];

/** Whether the same request may well work a moment later: a dropped connection, a proxy's error page. */
function passesQuickly(api: Api, reason: NodeErrorReason): boolean {
  if (reason === 'connection' || reason === 'not_json' || reason === 'http_error') return true;
  // An EVM error answer is about the request itself more often than not.
  return reason === 'error_answer' && api !== 'jsonrpc';
}

export interface EndpointOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly timeout_ms: number;
  /** Requests that may be under way at once to each URL. */
  readonly connections: number;
}

/** Makes the endpoints of one interface; nothing is sent yet. */
export function createEndpoints(api: Api, urls: readonly string[], options: EndpointOptions): Endpoints {
  const { log, metrics, timeout_ms } = options;
  const dispatcher = createDispatcher({
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: timeout_ms },
  });
  const endpoints: Endpoint[] = urls.map((url) => ({
    url,
    host: new URL(url).host,
    failures: 0,
    restsUntil: 0,
  }));

  /** The first that does not rest, else the one whose rest ends first. */
  const choose = (): Endpoint => {
    const now = Date.now();
    const awake = endpoints.find((endpoint) => endpoint.restsUntil <= now);
    return awake ?? endpoints.reduce((a, b) => (a.restsUntil <= b.restsUntil ? a : b));
  };

  const onFailure = (endpoint: Endpoint, error: NodeError): void => {
    metrics.nodeErrors.inc({ api, host: endpoint.host, reason: error.reason });
    endpoint.failures += 1;
    const rest = Math.min(longestRest, shortestRest * 2 ** Math.min(20, endpoint.failures - 1));
    endpoint.restsUntil = Date.now() + rest * (0.5 + Math.random());
    log[endpoint.failures === 3 ? 'warn' : 'debug'](
      { api, host: endpoint.host, reason: error.reason, failures: endpoint.failures },
      error.message,
    );
  };

  const send = async (
    endpoint: Endpoint,
    { path, body, headers, signal }: NodeRequest,
  ): Promise<[number, string]> => {
    try {
      const response = await request(endpoint.url + path, {
        dispatcher,
        headersTimeout: timeout_ms,
        bodyTimeout: timeout_ms,
        method: body === undefined ? 'GET' : 'POST',
        body: body ?? null,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        signal: signal ?? null,
      });
      return [response.statusCode, await response.body.text()];
    } catch (error) {
      const reason = timeouts.has(String((error as { code?: unknown }).code)) ? 'timeout' : 'connection';
      const what = reason === 'timeout' ? `no answer within ${timeout_ms} ms` : String(error);
      throw new NodeError(reason, `${api} ${path}: ${what}`, undefined, { cause: error });
    }
  };

  const askOnce: Endpoints['ask'] = async (nodeRequest, read) => {
    if (endpoints.length === 0) throw new NodeError('connection', `no ${api} URL is configured`);
    const endpoint = choose();
    metrics.nodeRequests.inc({ api, host: endpoint.host });
    const end = metrics.nodeSeconds.startTimer({ api });
    try {
      const [status, text] = await send(endpoint, nodeRequest);
      const result = read(status, text);
      if (endpoint.failures > 0) {
        if (endpoint.failures >= 3) log.info({ api, host: endpoint.host }, 'the node answers again');
        endpoint.failures = 0;
        endpoint.restsUntil = 0;
      }
      return result;
    } catch (error) {
      const nodeError =
        error instanceof NodeError
          ? error
          : new NodeError('not_json', `${api} ${nodeRequest.path}: ${String(error)}`, undefined, {
              cause: error,
            });
      if (nodeRequest.signal?.aborted !== true) onFailure(endpoint, nodeError);
      throw nodeError;
    } finally {
      end();
    }
  };

  const ask: Endpoints['ask'] = async (nodeRequest, read) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await askOnce(nodeRequest, read);
      } catch (error) {
        const passing = error instanceof NodeError && passesQuickly(api, error.reason);
        if (!passing || attempt >= (nodeRequest.attempts ?? quickAttempts) || nodeRequest.signal?.aborted)
          throw error;
        await sleep(quickDelay_ms * attempt * (0.5 + Math.random()), nodeRequest.signal);
      }
    }
  };

  return {
    api,
    urls,
    ask,
    close: () => dispatcher.destroy(),
  };
}

/** How long to wait before another attempt, in milliseconds: doubling from 50 ms to 5 s, with jitter. */
export function retryDelay(attempt: number): number {
  return Math.min(5_000, 50 * 2 ** Math.min(10, attempt)) * (0.5 + Math.random());
}

/** Parses JSON that the node sent. @throws NodeError not_json for anything else, such as a proxy's HTML page. */
export function parseNodeJson(status: number, body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new NodeError(
      'not_json',
      `${what}: HTTP ${status} and no JSON: ${JSON.stringify(body.slice(0, 80))}`,
    );
  }
}
