import { compareBytes } from '../token-key.js';
import type { MovingList, Position, Range } from './moving-page.js';

/** Compares positions part by part: numbers by value, texts by code point. */
export function comparePositions(a: Position, b: Position): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] as string | number;
    const order = typeof part === 'number' ? part - (other as number) : compareBytes(part, other as string);
    if (order !== 0) return order;
  }
  return 0;
}

/** A list that is read whole, since it is short or must be sorted anew anyway. */
export function memoryList<T>(
  list: Omit<MovingList<T>, 'read' | 'count'>,
  load: () => Promise<readonly T[]>,
): MovingList<T> {
  let loading: Promise<readonly T[]> | undefined;
  const sorted = (): Promise<readonly T[]> => {
    loading ??= load().then((items) =>
      [...items].sort((a, b) => comparePositions(list.positionOf(a), list.positionOf(b))),
    );
    return loading;
  };
  return {
    ...list,
    read: async (range) => partOf(await sorted(), list.positionOf, range),
    count: async () => (await sorted()).length,
  };
}

function partOf<T>(
  sorted: readonly T[],
  positionOf: (item: T) => Position,
  { anchor, descending, offset, limit }: Range,
): T[] {
  const ordered = descending ? sorted.toReversed() : sorted;
  const isBeyond = (item: T): boolean => {
    if (anchor === undefined) return true;
    const order = comparePositions(positionOf(item), anchor);
    return descending ? order < 0 : order > 0;
  };
  return ordered.filter(isBeyond).slice(offset, offset + limit);
}
