import { decodeSegment, queryValues } from './http/target.js';
import type { ParameterContext } from './parameters.js';
import type { Route } from './route.js';

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
