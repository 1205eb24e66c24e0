import { atMost, chunks } from '../common/chunk.js';

/** How much is taken at once. */
export interface Most {
  readonly count: number;
  readonly bytes: number;
}

/** The longest beginning of a list that stays within a count and a size; at least one item, however large. */
export const portion = <T>(items: readonly T[], sizeOf: (item: T) => number, most: Most): readonly T[] =>
  chunks(items, { most: most.bytes, of: sizeOf }, atMost(most.count)).next().value ?? [];
