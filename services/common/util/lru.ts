import { LRUCache } from 'lru-cache';

/** Characters of texts that an entry may have and still counts as one; one with more counts as several. */
const ordinaryLength = 256;

export interface LruOptions<Key, Value>
  extends Pick<LRUCache.Options<Key, Value, unknown>, 'dispose' | 'ttl'> {
  /** Characters of the texts in a value that somebody outside has chosen. Keys that are texts count by themselves. */
  readonly lengthOf?: (value: Value) => number;
}

/**
 * A cache of the entries that were used last. It takes memory as it fills: one with the option
 * `max` takes it for all its entries at once, which for the caches here is tens of megabytes and
 * a good part of a start.
 *
 * @param most how many entries it holds, at least one; fewer where their texts are long.
 */
export function createLru<Key extends {}, Value extends {}>(
  most: number,
  { lengthOf = () => 0, ...options }: LruOptions<Key, Value> = {},
): LRUCache<Key, Value> {
  const sizeCalculation = (value: Value, key: Key): number =>
    1 + Math.floor(((typeof key === 'string' ? key.length : 0) + lengthOf(value)) / ordinaryLength);
  return new LRUCache<Key, Value>({ ...options, maxSize: Math.max(1, most), sizeCalculation });
}

/** Lets something be said once about each of the last subjects. @param most how many are remembered. */
export function createOnce(most = 5_000): (subject: string) => boolean {
  const said = createLru<string, true>(most);
  return (subject) => {
    if (said.has(subject)) return false;
    said.set(subject, true);
    return true;
  };
}
