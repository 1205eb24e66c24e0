/**
 * Heights to look at: all of a range, or so many of it, spread evenly with chance deciding
 * within each part, so that every run looks at others. The first and the last are among them.
 *
 * @param random gives numbers from 0 to below 1.
 */
export function heightsToCheck(
  from: number,
  to: number,
  sample: number | undefined,
  random: () => number = Math.random,
): number[] {
  const size = to - from + 1;
  if (size <= 0) return [];
  if (sample === undefined || sample >= size) return Array.from({ length: size }, (_, index) => from + index);
  if (sample === 1) return [to];
  const between = sample - 2;
  const inner = size - 2;
  const chosen = Array.from({ length: between }, (_, index) => {
    const [low, high] = [Math.floor((index * inner) / between), Math.floor(((index + 1) * inner) / between)];
    return from + 1 + low + Math.floor(random() * (high - low));
  });
  return [from, ...chosen, to];
}
