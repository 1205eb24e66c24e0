import type { IncomingMessage } from 'node:http';
import type { Origins } from '../config.js';

/** Headers that scripts of other origins may read besides the few they always may. */
const exposed = 'etag, retry-after, x-request-id, content-length, age';

const anyOrigin = ['access-control-allow-origin', '*', 'access-control-expose-headers', exposed];
const nothing: readonly string[] = [];

/** Headers, name and value in turn, that let a page of another origin read an answer. */
export function corsHeaders(origins: Origins, request: IncomingMessage): readonly string[] {
  if (origins === '*') return anyOrigin;
  if (origins.length === 0) return nothing;
  const origin = request.headers.origin;
  if (origin === undefined || !origins.includes(origin.toLowerCase())) return ['vary', 'origin'];
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', exposed, 'vary', 'origin'];
}

/** Whether this is a browser asking whether it may send a request. */
export const isPreflight = (request: IncomingMessage): boolean =>
  request.method === 'OPTIONS' &&
  request.headers.origin !== undefined &&
  request.headers['access-control-request-method'] !== undefined;

/** What a preflight is told besides the headers of every answer: reading is allowed, for a day. */
export function preflightHeaders(request: IncomingMessage): readonly string[] {
  const wanted = request.headers['access-control-request-headers'];
  const allowed = wanted !== undefined && /^[\w!#$%&'*+.^`|~, -]{1,1000}$/.test(wanted) ? wanted : undefined;
  return [
    'access-control-allow-methods',
    'GET, HEAD, OPTIONS',
    ...(allowed === undefined ? [] : ['access-control-allow-headers', allowed]),
    'access-control-max-age',
    '86400',
    'vary',
    'access-control-request-headers',
  ];
}
