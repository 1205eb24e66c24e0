/** How much is taken at once. */
export interface Most {
  readonly count: number;
  readonly bytes: number;
}

/** The longest beginning of a list that stays within a count and a size; at least one item, however large. */
export function portion<T>(items: readonly T[], sizeOf: (item: T) => number, most: Most): readonly T[] {
  let [count, bytes] = [0, 0];
  for (const item of items) {
    bytes += sizeOf(item);
    if (count > 0 && (bytes > most.bytes || count >= most.count)) break;
    count += 1;
  }
  return items.slice(0, count);
}
