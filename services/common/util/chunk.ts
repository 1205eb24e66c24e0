/** What a chunk of a list may have at most, and how much of it an item has. */
export interface Bound<T> {
  readonly most: number;
  readonly of: (item: T) => number;
}

/** A bound of the number of items. */
export const atMost = (most: number): Bound<unknown> => ({ most, of: () => 1 });

/** Cuts a list into chunks that are within bounds, unless a single item is not; an item is never cut. */
export function* chunks<T>(
  items: Iterable<T>,
  ...bounds: readonly Bound<T>[]
): Generator<T[], void, undefined> {
  let chunk: T[] = [];
  const used = bounds.map(() => 0);
  for (const item of items) {
    const sizes = bounds.map(({ of }) => of(item));
    const isFull = bounds.some(({ most }, index) => (used[index] ?? 0) + (sizes[index] ?? 0) > most);
    if (chunk.length > 0 && isFull) {
      yield chunk;
      chunk = [];
      used.fill(0);
    }
    chunk.push(item);
    for (const [index, size] of sizes.entries()) used[index] = (used[index] ?? 0) + size;
  }
  if (chunk.length > 0) yield chunk;
}

/** Items by a key, in their order. */
export function groupBy<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
