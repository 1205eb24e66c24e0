import { setMaxListeners } from 'node:events';
import { request } from 'undici';
import { sleep } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { createDispatcher } from '../runtime/network.js';
import { BodyTooLarge, checkJson, JsonTooDeep, readBody } from '../util/bounded-input.js';

/** Which of a node's three interfaces a URL belongs to. */
export type Api = 'rpc' | 'rest' | 'jsonrpc';

/** Why a request to the node gave no usable answer. */
export type NodeErrorReason =
  | 'timeout'
  | 'too_large'
  | 'connection'
  | 'http_error'
  | 'not_json'
  | 'malformed'
  | 'error_answer'
  | 'behind'
  | 'contradicts'
  | 'incomplete'
  | 'wrong_chain';

/** The node gave no usable answer; another URL, or the same one later, may. */
export class NodeError extends Error {
  override name = 'NodeError';
  /** For `too_large`: the setting that bounds the answer, where there is one. */
  readonly setting: string | undefined;

  constructor(
    readonly reason: NodeErrorReason,
    message: string,
    /** What the node itself said, where it did. */
    readonly answer?: { readonly code?: number | undefined; readonly message: string } | undefined,
    options?: { cause?: unknown; setting?: string | undefined },
  ) {
    super(message, options);
    this.setting = options?.setting;
  }
}

/** How large an answer may be. */
export interface AnswerBound {
  /** The number of its JSON values is bounded with it. */
  readonly bytes: number;
  /**
   * The setting that says so, for messages and metrics. Without one the caller asks for a small answer first: that it
   * is larger is for the caller to know, and no failure of the URL.
   */
  readonly setting?: string | undefined;
}

/** The bound that the setting says. */
export const answerBound = ({ NODE_ANSWER_MB }: { readonly NODE_ANSWER_MB: number }): AnswerBound => ({
  bytes: NODE_ANSWER_MB * 1024 * 1024,
  setting: 'NODE_ANSWER_MB',
});

/**
 * For answers that are not about a whole block. The largest that are asked for on purpose are pages of 1,000 items and
 * batches of calls, a few MiB at most.
 */
const defaultBound = answerBound({ NODE_ANSWER_MB: 16 });

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
  /** How large the answer may be. Default: the bound of the endpoints. */
  readonly bound?: AnswerBound | undefined;
  /** Gets how long the answer took, from the connection to its last byte, without waits and without attempts that failed. */
  readonly onAnswer?: ((took_ms: number) => void) | undefined;
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
  /**
   * Counts against the URL in use what shows only when several answers are compared, so that the next requests go to
   * another URL where there is one.
   *
   * @returns the error, to be thrown.
   */
  blame(error: NodeError): NodeError;
  close(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly host: string;
  /** Requests that wait for a connection; the deadline of a request begins when it has one. */
  readonly waiting: (() => void)[];
  free: number;
  failures: number;
  /** When a request failed last, and when the log said that one cost the whole deadline, by `performance.now()`. */
  failedAt: number;
  warnedAt: number;
  /** Not used before this time unless every URL rests (milliseconds since the epoch). */
  restsUntil: number;
}

const connectTimeout = 'UND_ERR_CONNECT_TIMEOUT';

const [shortestRest, longestRest] = [200, 30_000];

/** Failures that cost much, or that the same URL repeats: it rests longer, and the log says so at once. */
const lasting: readonly NodeErrorReason[] = [
  'timeout',
  'too_large',
  'malformed',
  'incomplete',
  'contradicts',
];

/** How often the log says so of one URL, in milliseconds. */
const warnEvery_ms = 60_000;

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
  /** How long a request may take as a whole, from the connection to the last byte of the answer. */
  readonly timeout_ms: number;
  /** Requests that may be under way at once to each URL. */
  readonly connections: number;
  /** How large answers may be, unless a request says otherwise. Default: 16 MiB. */
  readonly bound?: AnswerBound | undefined;
  /** The service in `metrics.limits`. Default: `weft`. */
  readonly service?: string | undefined;
}

/** Makes the endpoints of one interface; nothing is sent yet. */
export function createEndpoints(api: Api, urls: readonly string[], options: EndpointOptions): Endpoints {
  const { log, metrics, timeout_ms, bound: usual = defaultBound, service = 'weft' } = options;
  const dispatcher = createDispatcher({
    connections: options.connections,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: timeout_ms },
  });
  const endpoints: Endpoint[] = urls.map((url) => ({
    url,
    host: new URL(url).host,
    waiting: [],
    free: options.connections,
    failures: 0,
    failedAt: Number.NEGATIVE_INFINITY,
    warnedAt: Number.NEGATIVE_INFINITY,
    restsUntil: 0,
  }));

  /** The first that does not rest, else the one whose rest ends first. */
  const choose = (): Endpoint => {
    const now = Date.now();
    const awake = endpoints.find((endpoint) => endpoint.restsUntil <= now);
    return awake ?? endpoints.reduce((a, b) => (a.restsUntil <= b.restsUntil ? a : b));
  };

  const onFailure = (
    endpoint: Endpoint,
    error: NodeError,
    isLasting = lasting.includes(error.reason),
  ): void => {
    metrics.nodeErrors.inc({ api, host: endpoint.host, reason: error.reason });
    endpoint.failures += 1;
    endpoint.failedAt = performance.now();
    const least = isLasting ? Math.max(shortestRest, timeout_ms) : shortestRest;
    const rest = Math.min(longestRest, least * 2 ** Math.min(20, endpoint.failures - 1));
    endpoint.restsUntil = Date.now() + rest * (0.5 + Math.random());
    const isNews = isLasting && endpoint.failedAt - endpoint.warnedAt >= warnEvery_ms;
    if (isNews) endpoint.warnedAt = endpoint.failedAt;
    log[isNews || endpoint.failures === 3 ? 'warn' : 'debug'](
      { api, host: endpoint.host, reason: error.reason, failures: endpoint.failures },
      error.message,
    );
  };

  /** Whether a URL that does not rest may give what another one does not. */
  const mayElsewhere = ({ reason }: NodeError): boolean =>
    lasting.includes(reason) && choose().failures === 0 && endpoints.length > 1;

  const send = async (
    endpoint: Endpoint,
    { path, body, headers, signal, bound = usual, onAnswer }: NodeRequest,
  ): Promise<[number, string]> => {
    const began = performance.now();
    const what = `${api} ${endpoint.host}${path}`;
    // A signal for each request: what many requests share, undici would add a listener to for each of them.
    const stop = new AbortController();
    const cancel = (): void => stop.abort();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop.abort();
    }, timeout_ms);
    signal?.addEventListener('abort', cancel);
    try {
      signal?.throwIfAborted();
      const response = await request(endpoint.url + path, {
        dispatcher,
        headersTimeout: 0,
        bodyTimeout: 0,
        method: body === undefined ? 'GET' : 'POST',
        body: body ?? null,
        headers: {
          accept: 'application/json',
          // Then the bytes that are counted are those that are held.
          'accept-encoding': 'identity',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        signal: stop.signal,
      });
      const answer = await readBody(response.body, bound.bytes);
      checkJson(answer, bound.bytes);
      onAnswer?.(performance.now() - began);
      return [response.statusCode, answer.toString('utf8')];
    } catch (cause) {
      if (isLate || (cause as { code?: unknown }).code === connectTimeout) {
        throw new NodeError('timeout', `${what}: no whole answer within ${timeout_ms} ms (NODE_TIMEOUT_MS)`);
      }
      if (cause instanceof BodyTooLarge) {
        const setting = cause instanceof JsonTooDeep ? undefined : bound.setting;
        if (setting !== undefined) metrics.limits.inc({ service, limit: setting });
        throw new NodeError(
          'too_large',
          `${what}: the answer ${cause.message}${setting === undefined ? '' : ` (${setting})`}`,
          undefined,
          { setting },
        );
      }
      throw new NodeError('connection', `${what}: ${String(cause)}`, undefined, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  };

  /** Runs something while it holds one of the URL's connections. */
  const connected = async <T>(endpoint: Endpoint, work: () => Promise<T>): Promise<T> => {
    if (endpoint.free > 0) endpoint.free -= 1;
    else await new Promise<void>((resolve) => endpoint.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = endpoint.waiting.shift();
      if (next === undefined) endpoint.free += 1;
      else next();
    }
  };

  const askOnce: Endpoints['ask'] = async (nodeRequest, read) => {
    if (endpoints.length === 0) throw new NodeError('connection', `no ${api} URL is configured`);
    const endpoint = choose();
    const began = performance.now();
    metrics.nodeRequests.inc({ api, host: endpoint.host });
    const end = metrics.nodeSeconds.startTimer({ api });
    try {
      const [status, text] = await connected(endpoint, () => send(endpoint, nodeRequest));
      const result = read(status, text);
      // What began before the last failure does not say that it is over.
      if (endpoint.failures > 0 && began > endpoint.failedAt) {
        if (endpoint.failures >= 3) log.info({ api, host: endpoint.host }, 'the node answers again');
        endpoint.failures = 0;
        endpoint.restsUntil = 0;
      }
      return result;
    } catch (error) {
      const nodeError =
        error instanceof NodeError
          ? error
          : new NodeError(
              'not_json',
              `${api} ${endpoint.host}${nodeRequest.path}: ${String(error)}`,
              undefined,
              { cause: error },
            );
      const isExpected =
        nodeError.reason === 'too_large' && (nodeRequest.bound ?? usual).setting === undefined;
      if (nodeRequest.signal?.aborted !== true && !isExpected) onFailure(endpoint, nodeError);
      throw nodeError;
    } finally {
      end();
    }
  };

  const ask: Endpoints['ask'] = async (nodeRequest, read) => {
    // Every request that is under way listens to its caller's signal, and a service's requests share one.
    if (nodeRequest.signal !== undefined) setMaxListeners(0, nodeRequest.signal);
    for (let attempt = 1; ; attempt++) {
      try {
        return await askOnce(nodeRequest, read);
      } catch (error) {
        const passing =
          error instanceof NodeError && (passesQuickly(api, error.reason) || mayElsewhere(error));
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
    blame(error) {
      if (endpoints.length > 0) onFailure(choose(), error, true);
      return error;
    },
    close: () => dispatcher.destroy(),
  };
}

/** How long to wait before another attempt, in milliseconds: doubling from 50 ms to 5 s, with jitter. */
export function retryDelay(attempt: number): number {
  return Math.min(5_000, 50 * 2 ** Math.min(10, attempt)) * (0.5 + Math.random());
}

/**
 * Parses JSON that the node sent.
 *
 * @param parse `parseInnerJson` for a text that stands in a string of the answer.
 * @throws NodeError not_json for anything else, such as a proxy's HTML page.
 */
export function parseNodeJson(
  status: number,
  body: string,
  what: string,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(body);
  } catch {
    throw new NodeError(
      'not_json',
      `${what}: HTTP ${status} and no JSON: ${JSON.stringify(body.slice(0, 80))}`,
    );
  }
}
