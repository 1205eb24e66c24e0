import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long the event loop may be held, in milliseconds. */
const slice_ms = 8;

/**
 * Gives the event loop a turn when it has been held long enough. To be awaited between
 * pieces of work: a turn after every piece would let whoever has more callbacks waiting (the
 * fetching of blocks) starve the work.
 */
export function createSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < slice_ms) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
