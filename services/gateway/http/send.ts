import type { ServerResponse } from 'node:http';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { Origins } from '../config.js';
import { type Problem, problemBody } from '../errors.js';
import type { StreamedBody } from '../route.js';
import type { Encoded } from './answer.js';
import type { Exchange } from './exchange.js';
import { corsHeaders, matchesTag } from './headers.js';
import type { Outbox } from './outbox.js';

/** The one way an answer leaves, whether it comes from the cache, from a service or is a problem. */
export interface Sender {
  /** A good answer that is read while it is sent. */
  stream(exchange: Exchange, encoded: Encoded, streamed: StreamedBody): void;
  /** A good answer; 304 where the client has it already, without a body for HEAD. */
  answer(exchange: Exchange, encoded: Encoded, age_s?: number): void;
  problem(exchange: Exchange, problem: Problem): void;
  /** Nothing, because the client went away: only counted. */
  gone(exchange: Exchange): void;
  /** 204 with these headers, for OPTIONS. */
  empty(exchange: Exchange, headers: readonly string[]): void;
}

/** Not an HTTP status, but what servers commonly write down for a client that did not wait. */
const clientClosedRequest = 499;

/** What sending depends on. */
export interface SenderEnvironment {
  readonly origins: Origins;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly outbox: Outbox;
  /** Whether connections are to be closed after their answer. */
  readonly isStopping: () => boolean;
}

/** Bytes of a streamed body that are on their way at once: a part that is read, one that waits, and one that is sent. */
const streamed_bytes = 12 * 1024 * 1024;

/** Waits until more may be written, or nobody reads any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

export function createSender(environment: SenderEnvironment): Sender {
  const { origins, metrics, log } = environment;
  const observers = new Map<string, (seconds: number) => void>();

  const finish = (exchange: Exchange, status: number): void => {
    const key = `${status} ${exchange.route}`;
    let observe = observers.get(key);
    if (observe === undefined) {
      const series = metrics.httpSeconds.labels({ route: exchange.route, status: String(status) });
      observe = (seconds) => series.observe(seconds);
      observers.set(key, observe);
    }
    const took_ms = performance.now() - exchange.started_ms;
    observe(took_ms / 1000);
    if (log.isLevelEnabled('debug')) {
      const { request_id, url, route } = exchange;
      log.debug({ request_id, method: exchange.request.method, url, route, status, took_ms }, 'request');
    }
  };

  /** Writes the head of an answer. @returns whether anybody is there to read it. */
  const begin = (exchange: Exchange, status: number, headers: readonly string[]): boolean => {
    const { request, response } = exchange;
    if (response.headersSent || response.destroyed) return false;
    const all = [
      ...headers,
      ...corsHeaders(origins, request),
      'x-request-id',
      exchange.request_id,
      'x-content-type-options',
      'nosniff',
    ];
    if (environment.isStopping()) all.push('connection', 'close');
    response.writeHead(status, all);
    return true;
  };

  const write = (exchange: Exchange, status: number, headers: readonly string[], body?: Buffer): void => {
    const { request, response } = exchange;
    if (begin(exchange, status, headers)) {
      if (body === undefined || request.method === 'HEAD') response.end();
      else {
        response.end(body);
        // Most answers are with the kernel by now: nothing is held for them.
        const isHeld = response.socket === null || response.socket.writableLength > 0;
        if (isHeld && !response.destroyed)
          environment.outbox.add(response, exchange.client, body, body.length);
      }
    }
    finish(exchange, status);
  };

  const pipe = async (exchange: Exchange, { bytes, open }: StreamedBody): Promise<void> => {
    const { response } = exchange;
    const left = new AbortController();
    response.once('close', () => left.abort());
    environment.outbox.add(response, exchange.client, { length: streamed_bytes }, bytes);
    for await (const part of open(left.signal)) {
      if (left.signal.aborted) return;
      if (!response.write(part)) await drained(response);
    }
    response.end();
  };

  return {
    stream: (exchange, encoded, streamed) => {
      const isBegun = begin(exchange, 200, encoded.headers);
      finish(exchange, 200);
      if (!isBegun) return;
      if (exchange.request.method === 'HEAD') {
        exchange.response.end();
        return;
      }
      pipe(exchange, streamed).catch((error: unknown) => {
        // Part of it is with the client: only a connection that ends too early says that it is not all.
        const { request_id, url, response } = exchange;
        if (!response.destroyed)
          log.warn({ request_id, url, err: error }, 'an answer broke off while it was sent');
        response.destroy();
      });
    },
    answer: (exchange, encoded, age_s) => {
      const if_none_match = exchange.request.headers['if-none-match'];
      if (if_none_match !== undefined && matchesTag(if_none_match, encoded.etag)) {
        write(exchange, 304, encoded.unchanged_headers);
      } else if (age_s === undefined) {
        write(exchange, 200, encoded.headers, encoded.body);
      } else {
        write(exchange, 200, [...encoded.headers, 'age', String(age_s)], encoded.body);
      }
    },
    problem: (exchange, problem) => {
      const body = problemBody(problem);
      const headers = [
        'content-type',
        'application/json; charset=utf-8',
        'content-length',
        String(body.length),
        'cache-control',
        'no-store',
        ...Object.entries(problem.headers ?? {}).flat(),
      ];
      write(exchange, problem.http, headers, body);
    },
    gone: (exchange) => finish(exchange, clientClosedRequest),
    empty: (exchange, headers) => write(exchange, 204, headers),
  };
}
