import { status } from '@grpc/grpc-js';
import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import { notFound } from '../common/errors.js';
import type { Log } from '../common/log.js';
import { ProblemError, shown } from './errors.js';
import { isPreflight, preflightHeaders } from './http/cors.js';
import type { Exchange } from './http/exchange.js';
import type { Sender } from './http/send.js';
import { belowBase, parseTarget, type Target } from './http/target.js';
import type { ParameterContext } from './parameters.js';
import { type KnownRequest, readRequest } from './request.js';
import type { Route } from './route.js';
import type { Server } from './serve.js';

/** What routing depends on. */
export interface RouterEnvironment {
  readonly routes: readonly Route[];
  readonly base_path: string;
  readonly parameters: ParameterContext;
  readonly server: Server;
  readonly sender: Sender;
  readonly isCrossOriginAllowed: boolean;
  readonly log: Log;
  /** Called with each request that was understood, to recognise its URL the next time. */
  readonly remember: (exchange: Exchange, request: KnownRequest) => void;
}

/** Longest raw target in bytes; longer ones are a 414. */
export const maxTarget_bytes = 16 * 1024;

const allowed = 'GET, HEAD, OPTIONS';

interface State {
  exchange: Exchange;
  target: Target;
}

/** Finds the route of a request, checks it and serves it. */
export function createRouter(environment: RouterEnvironment): (exchange: Exchange) => void {
  const { routes, base_path, server, sender } = environment;
  const exchanges = new WeakMap<object, Exchange>();
  const app = new Koa<State>();
  const router = new Router<State>({ sensitive: true });

  for (const route of routes) {
    router.get(koaPath(route), (context: RouterContext<State>) => {
      const { exchange, target } = context.state;
      exchange.route = route.path;
      const request = readRequest(route, context.captures ?? [], target.search, environment.parameters);
      environment.remember(exchange, request);
      server.serve(exchange, request);
    });
  }

  app.on('error', (error: unknown) => environment.log.debug({ err: error }, 'a connection broke'));
  app.use(async (context, next) => {
    context.respond = false; // answers leave by the sender, as those from the cache do
    const exchange = exchanges.get(context.req) as Exchange;
    try {
      context.state = { exchange, target: readTarget(exchange, base_path) };
      if (environment.isCrossOriginAllowed && isPreflight(context.req)) {
        return sender.empty(exchange, preflightHeaders(context.req));
      }
      (context as RouterContext<State>).newRouterPath = context.state.target.path;
      await next();
    } catch (error) {
      server.fail(exchange, error);
    }
  });
  app.use(router.routes() as Koa.Middleware<State>);
  app.use((context) => {
    const { exchange, target } = context.state;
    const isKnown = ((context as RouterContext<State>).matched ?? []).length > 0;
    if (!isKnown && exchange.url !== '*') throw notFound(`there is no route ${shown(target.path)}`);
    if (context.method === 'OPTIONS') return sender.empty(exchange, ['allow', allowed]);
    throw methodNotAllowed(context.method);
  });
  const callback = app.callback();

  return (exchange) => {
    exchanges.set(exchange.request, exchange);
    callback(exchange.request, exchange.response).catch((error: unknown) => server.fail(exchange, error));
  };
}

/** @throws when the target is too long or is not below the base path. */
function readTarget(exchange: Exchange, base_path: string): Target {
  if (exchange.url.length > maxTarget_bytes) throw uriTooLong();
  const target = parseTarget(exchange.url);
  const path = belowBase(target.path, base_path);
  if (path === undefined) {
    throw notFound(`there is no route ${shown(target.path)}: the API is below ${base_path}`);
  }
  return { ...target, path };
}

/** `/txs/{tx_hash}` as the router writes it. */
const koaPath = ({ path, takes_rest }: Route): string =>
  (takes_rest ? path.replace(/\{(\w+)\}$/, '*$1') : path).replace(/\{(\w+)\}/g, ':$1');

export const uriTooLong = (): ProblemError =>
  new ProblemError({
    http: 414,
    code: status.INVALID_ARGUMENT,
    message: `the URL is longer than ${maxTarget_bytes} bytes`,
  });

const methodNotAllowed = (method: string): ProblemError =>
  new ProblemError({
    http: 405,
    code: status.UNIMPLEMENTED,
    message: `the method ${method} is not allowed here: ${allowed}`,
    headers: { allow: allowed },
  });
