import { type RecordingName, recordings } from './facts.js';

/**
 * Whether lists are gone through whole: in test:thorough and test:whole. `npm test` takes a sample of
 * what differs in nothing but its values, so that it stays a matter of minutes.
 */
export const isThorough = process.env['WEFT_TEST_THOROUGH'] === '1';

/**
 * Whether it is test:whole. Of what differs in the virtual machine or the contract alone, and of more
 * histories of the same kind, test:thorough takes one that others do not look at already.
 */
export const isWhole = process.env['WEFT_TEST_WHOLE'] === '1';

/**
 * All recordings in test:whole; else those that a file has chosen. Files choose
 * differently, so that `npm test` looks at each from several sides.
 */
export const chosen = (...names: readonly RecordingName[]): readonly RecordingName[] =>
  isThorough ? recordings : names;

const itWhen =
  (isRun: boolean) =>
  (title: string, test: Mocha.AsyncFunc): void => {
    if (isRun) it(title, test);
  };

/** A test of the thorough suite alone: it takes long, and what it looks at others look at too. */
export const thoroughIt = itWhen(isThorough);

/** A test of test:whole alone: what it looks at others look at too, less of it at a time. */
export const wholeIt = itWhen(isWhole);

/** Everything in test:thorough and test:whole; else at most so many, spread over the list, with the first and the last. */
export function sampled<T>(items: readonly T[], most: number): readonly T[] {
  if (isThorough || items.length <= most) return items;
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as T);
}

/** Random histories of the tables: how many are followed, and the seed of the first. SEED and HISTORIES try others. */
export const histories = {
  first: Number(process.env['SEED'] ?? 1),
  count: Number(process.env['HISTORIES'] ?? (isWhole ? 3 : 1)),
};
