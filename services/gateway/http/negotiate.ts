import { LRUCache } from 'lru-cache';
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
