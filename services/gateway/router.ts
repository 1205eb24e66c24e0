import { status } from '@grpc/grpc-js';
import type { RouterContext } from '@koa/router';
import Router from '@koa/router';
import Koa from 'koa';
import { notFound } from '../common/runtime/errors.js';
import type { Log } from '../common/runtime/log.js';
import { ProblemError, shown } from './errors.js';
import type { Exchange } from './http/exchange.js';
import { isPreflight, preflightHeaders } from './http/headers.js';
import type { Sender } from './http/send.js';
import { belowBase, decodeSegment, parseTarget, queryValues, type Target } from './http/target.js';
import type { ParameterContext } from './parameters.js';
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

/** A request that was understood: the route, its checked arguments, and what equal requests share. */
export interface KnownRequest {
  readonly route: Route;
  readonly args: Readonly<Record<string, unknown>>;
  /** The route's path and the checked arguments as text. */
  readonly key: string;
}

/** Names of a route's path parameters, in order. */
export const pathNames = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);

/**
 * Checks everything a request carries against its route.
 *
 * @param captures raw path segments of the path parameters, in order.
 * @throws RpcError INVALID_ARGUMENT that names the parameter and its value.
 */
export function readRequest(
  route: Route,
  captures: readonly string[],
  search: string,
  context: ParameterContext,
): KnownRequest {
  const inPath = new Map(pathNames(route.path).map((name, i) => [name, captures[i] ?? ''] as const));
  const inQuery = queryValues(
    search,
    new Set(Object.keys(route.parameters).filter((name) => !inPath.has(name))),
  );
  const args: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(route.parameters)) {
    const raw = inPath.get(name);
    const texts = raw === undefined ? (inQuery.get(name) ?? []) : [decodeSegment(name, raw)];
    args[name] = parameter.parse(texts, name, context);
  }
  // A page by key is the same whatever offset came with it.
  if (args['pagination.key']) args['pagination.offset'] = 0;
  // A client that sends a key, even an empty one, goes by keys.
  if (inQuery.get('pagination.offset')?.[0] && !inQuery.has('pagination.key'))
    args['pagination.by_offset'] = true;
  return { route, args, key: `${route.path} ${JSON.stringify(Object.values(args), textOfBigint)}` };
}

const textOfBigint = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;
