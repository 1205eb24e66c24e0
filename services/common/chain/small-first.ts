import type { Mutex } from '../mutex.js';
import { type AnswerBound, NodeError } from './endpoints.js';

/** Whether a request failed because its answer is larger than it may be. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof NodeError && error.reason === 'too_large';

/**
 * Asks for a small answer, as most are. One that is larger is asked for again when no other large one is held: many
 * requests may be under way at once, and each of them could be answered with as much as the bound allows.
 *
 * @param ask sends the request with a bound; without one the usual bound of the endpoints holds.
 * @param alone who holds it may hold a large answer, and what is made of it.
 */
export async function smallFirst<T>(
  small: AnswerBound,
  alone: Mutex,
  ask: (bound?: AnswerBound) => Promise<T>,
): Promise<T> {
  try {
    return await ask(small);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return alone(() => ask());
  }
}
