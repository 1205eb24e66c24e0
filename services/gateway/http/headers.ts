import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Origins } from '../config.js';
import type { Coding } from './answer.js';

/** Browsers and libraries send few different values, so each is read once. */
const known = new LRUCache<string, Coding>({ max: 256 });

/**
 * The coding to answer in: the one the client likes best, brotli before gzip when it likes
 * both the same. A client that refuses everything gets the plain body.
 */
export function codingFor(accept_encoding: string | undefined): Coding {
  if (accept_encoding === undefined || accept_encoding === '') return 'identity';
  let coding = known.get(accept_encoding);
  if (coding === undefined) {
    coding = readCoding(accept_encoding);
    if (accept_encoding.length <= 200) known.set(accept_encoding, coding);
  }
  return coding;
}

function readCoding(accept_encoding: string): Coding {
  const weights = new Map<string, number>();
  for (const part of accept_encoding.toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((text) => text.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    if (name) weights.set(name, Number.isFinite(weight) ? weight : 0);
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const br = weightOf('br');
  const gzip = Math.max(weightOf('gzip'), weights.get('x-gzip') ?? 0);
  const identity = weights.get('identity') ?? 0;
  if (br > 0 && br >= gzip && br >= identity) return 'br';
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
}

/** Whether an If-None-Match header (a list, weak tags, `*`) names one of the tags. */
export function matchesTag(if_none_match: string, tag: string): boolean {
  if (if_none_match === tag || if_none_match.trim() === '*') return true;
  return if_none_match.split(',').some((part) => part.trim().replace(/^W\//, '') === tag);
}

/** Whether a client that sends this Accept header prefers a page over JSON. */
export function prefersHtml(accept: string): boolean {
  const weightOf = (type: string): number => {
    for (const part of accept.toLowerCase().split(',')) {
      const [name, ...parameters] = part.split(';').map((text) => text.trim());
      if (name !== type) continue;
      const quality = parameters.find((text) => text.startsWith('q='));
      return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    }
    return 0;
  };
  const html = weightOf('text/html');
  return html > 0 && html >= weightOf('application/json');
}

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
