import { createLru } from '../../common/lru.js';

/** Says how many seconds a client has to wait before its next request; 0 when it may go on. */
export type RateLimit = (client: string) => number;

/** Addresses that are remembered at once; the ones not seen for longest are forgotten. */
const addresses = 100_000;

/**
 * A token bucket per client address that fills by `per_second` and holds one second's worth.
 *
 * @param now_ms the clock.
 */
export function createRateLimit(
  per_second: number,
  now_ms: () => number = () => performance.now(),
): RateLimit | undefined {
  if (per_second === 0) return undefined;
  const buckets = createLru<string, { tokens: number; at_ms: number }>(addresses);
  return (client) => {
    const now = now_ms();
    const bucket = buckets.get(client) ?? { tokens: per_second, at_ms: now };
    const filled = bucket.tokens + ((now - bucket.at_ms) / 1000) * per_second;
    bucket.tokens = Math.min(per_second, filled);
    bucket.at_ms = now;
    buckets.set(client, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / per_second));
    bucket.tokens -= 1;
    return 0;
  };
}
