import { LRUCache } from 'lru-cache';

/**
 * A cache of the entries that were used last. It takes memory as it fills: one with the option
 * `max` takes it for all its entries at once, which for the caches here is tens of megabytes and
 * a good part of a start.
 *
 * @param most how many entries it holds, at least one.
 */
export function createLru<Key extends {}, Value extends {}>(
  most: number,
  options: Pick<LRUCache.Options<Key, Value, unknown>, 'dispose' | 'ttl'> = {},
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ ...options, maxSize: Math.max(1, most), sizeCalculation: () => 1 });
}
