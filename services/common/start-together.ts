import { type Stoppable, stopAll } from './lifecycle.js';

/** Where a start puts how each thing that is up is stopped, in the order in which they came up. */
export type Stops = (() => Promise<unknown>)[];

/**
 * Starts several things as one. When a later one fails, those before it are stopped, in
 * reverse, and the failure is thrown.
 *
 * @returns what `start` gives, with a `stop` for all of it, in reverse.
 */
export async function startTogether<Running extends object>(
  start: (stops: Stops) => Promise<Running>,
): Promise<Running & Stoppable> {
  const stops: Stops = [];
  const stop = stopAll(stops);
  try {
    return { ...(await start(stops)), stop };
  } catch (error) {
    // Why it failed is what counts, not what could not be stopped after it.
    await stop().catch(() => {});
    throw error;
  }
}
