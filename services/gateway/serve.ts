import { maySendAgain } from '../common/rpc/client.js';
import { sleep } from '../common/runtime/lifecycle.js';
import { createLogSampler, type Log } from '../common/runtime/log.js';
import type { Cache } from './cache.js';
import type { Clients } from './clients.js';
import { notOnThisVm, problemOf } from './errors.js';
import type { Heads } from './heads.js';
import { type Admission, retryAfter_s } from './http/admission.js';
import { type Answer, createAnswer, inCoding } from './http/answer.js';
import type { Exchange } from './http/exchange.js';
import { codingFor, prefersHtml } from './http/headers.js';
import type { Sender } from './http/send.js';
import type { About, Content, RouteContext } from './route.js';
import type { KnownRequest } from './router.js';

/** What serving depends on. */
export interface ServeEnvironment {
  readonly cache: Cache;
  readonly clients: Clients;
  readonly heads: Pick<Heads, 'quiet_ms'>;
  readonly sender: Sender;
  readonly about: About;
  readonly log: Log;
  readonly admission: Admission;
  /** Whether a connection may carry requests of several clients. */
  readonly isShared: boolean;
  /** After this long a request is answered with 504. */
  readonly timeout_ms: number;
}

/** Answers requests that were understood, and reports what went wrong with any. */
export interface Server {
  serve(exchange: Exchange, request: KnownRequest): void;
  fail(exchange: Exchange, error: unknown): void;
}

/** Wait before the one other attempt when a service is not reached: long enough to choose another replica. */
const retry_ms = 50;

/** Time between two connections of a client that are read again after they were refused. */
const apart_ms = 10;

export function createServer(environment: ServeEnvironment): Server {
  const { cache, clients, sender, about, log } = environment;
  const { quiet_ms } = environment.heads;

  const sampled = createLogSampler();

  const fail = (exchange: Exchange, error: unknown): void => {
    const problem = problemOf(error);
    if (problem.http >= 500 && problem.http !== 501 && problem.refused !== true) {
      const { request_id, route, url } = exchange;
      sampled(`${route} ${error}`, (left_out) =>
        log.error(
          { request_id, route, url, status: problem.http, err: error, ...left_out },
          `request failed: ${error}`,
        ),
      );
    }
    sender.problem(exchange, problem);
    if (problem.refused === true) holdBack(exchange);
  };

  /** When the last connection of a client that was refused is read again. */
  const heldUntil = new Map<string, number>();

  /**
   * A connection that was refused is read again when it may try again, and of one client one after the other: asking at once
   * must cost the one who asks.
   */
  const holdBack = ({ client, request: { socket } }: Exchange): void => {
    // Behind a proxy a connection is not one client's.
    if (environment.isShared || socket.destroyed) return;
    const now = performance.now();
    const until = Math.max(now + retryAfter_s * 1000, (heldUntil.get(client) ?? 0) + apart_ms);
    heldUntil.set(client, until);
    socket.pause();
    const readAgain = (): void => {
      if (heldUntil.get(client) === until) heldUntil.delete(client);
      socket.resume();
    };
    setTimeout(readAgain, until - now).unref();
  };

  const deliver = (exchange: Exchange, key: string, answer: Answer, age_s?: number): void => {
    const { streamed } = answer.content;
    if (streamed !== undefined) {
      sender.stream(exchange, answer.identity, streamed);
      return;
    }
    const coding = codingFor(exchange.request.headers['accept-encoding'] as string | undefined);
    const encoded = inCoding(answer, coding);
    if ('body' in encoded) {
      sender.answer(exchange, encoded, age_s);
      return;
    }
    encoded.then(
      (ready) => {
        cache.recount(key, answer);
        sender.answer(exchange, ready, age_s);
      },
      (error: unknown) => fail(exchange, error),
    );
  };

  const serve = (exchange: Exchange, request: KnownRequest): void => {
    const { route } = request;
    exchange.route = route.path;
    if (route.only !== undefined && route.only.vm !== about.vm) {
      fail(exchange, notOnThisVm(about.vm, route.only.what));
      return;
    }
    const accept = route.negotiates ? (exchange.request.headers.accept ?? '') : '';
    const key = route.negotiates ? `${request.key} ${prefersHtml(accept)}` : request.key;
    const cached = cache.get(key, route.owners);
    if (cached !== undefined) {
      deliver(exchange, key, cached);
      return;
    }

    const left = new AbortController();
    const leave = (): void => left.abort();
    exchange.response.once('close', leave);
    const deadline = Date.now() + environment.timeout_ms;
    const ask = async (signal: AbortSignal): Promise<Answer> => {
      const { request_id, client } = exchange;
      const call = { deadline, request_id, signal, client };
      const end = route.owners.length === 0 ? undefined : environment.admission.begin(client);
      try {
        return createAnswer(await handle(request, { clients, call, about, quiet_ms, accept }));
      } finally {
        end?.();
      }
    };
    cache
      .ask(key, route.owners, ask, left.signal)
      .then((answer) => deliver(exchange, key, answer))
      .catch((error: unknown) => {
        if (left.signal.aborted) return sender.gone(exchange);
        const old = route.outlives_failure && problemOf(error).http >= 500 ? cache.getOld(key) : undefined;
        if (old === undefined) return fail(exchange, error);
        log.warn(
          { request_id: exchange.request_id, route: route.path, err: error },
          'an old answer was given',
        );
        deliver(exchange, key, old.answer, old.age_s);
      })
      .finally(() => exchange.response.off('close', leave));
  };

  return { serve, fail };
}

/** Runs the handler; once more when no service was at work on it, since another replica may answer. */
async function handle(request: KnownRequest, context: RouteContext): Promise<Content> {
  try {
    return await request.route.handler(request.args as never, context);
  } catch (error) {
    const { deadline = Number.POSITIVE_INFINITY, signal } = context.call;
    if (!maySendAgain(error) || signal?.aborted || Date.now() + retry_ms >= deadline) throw error;
    await sleep(retry_ms, signal);
    return await request.route.handler(request.args as never, context);
  }
}
