import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { createLru } from '../../common/lru.js';

/** Says how many seconds a client has to wait before its next request; 0 when it may go on. */
export type RateLimit = (request: IncomingMessage) => number;

/** Addresses that are remembered at once; the ones not seen for longest are forgotten. */
const addresses = 100_000;

/**
 * A token bucket per client address that fills by `per_second` and holds one second's worth.
 *
 * @param trusted_proxies proxies in front that append to X-Forwarded-For; 0 to go by the connection.
 * @param now_ms the clock.
 */
export function createRateLimit(
  per_second: number,
  trusted_proxies: number,
  now_ms: () => number = () => performance.now(),
): RateLimit | undefined {
  if (per_second === 0) return undefined;
  const buckets = createLru<string, { tokens: number; at_ms: number }>(addresses);
  return (request) => {
    const address = clientAddress(request, trusted_proxies);
    const now = now_ms();
    const bucket = buckets.get(address) ?? { tokens: per_second, at_ms: now };
    const filled = bucket.tokens + ((now - bucket.at_ms) / 1000) * per_second;
    bucket.tokens = Math.min(per_second, filled);
    bucket.at_ms = now;
    buckets.set(address, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / per_second));
    bucket.tokens -= 1;
    return 0;
  };
}

/** Who sent a request; of IPv6 the /64, since one customer has all of it. */
export function clientAddress(request: IncomingMessage, trusted_proxies: number): string {
  const forwarded = trusted_proxies === 0 ? '' : String(request.headers['x-forwarded-for'] ?? '');
  const hops = forwarded.split(',').map((hop) => hop.trim());
  const address = hops.at(-trusted_proxies) || (request.socket.remoteAddress ?? '');
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  return isIPv6(address) ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = tail.split(':').filter((group) => group !== '');
  const missing = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
