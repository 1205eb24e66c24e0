import { isTooLarge } from '../../common/chain/small-first.js';
import { messageOf } from '../../common/errors.js';

/** What came of asking the node. */
export type Outcome<T> =
  | { readonly is: 'answer'; readonly value: T }
  /** The node answered that it cannot say: another time it may, more likely not. */
  | { readonly is: 'refused'; readonly why: string }
  /** The node did not answer, or does not have the block yet: nothing is known. */
  | { readonly is: 'unreached'; readonly why: string };

export const answer = <T>(value: T): Outcome<T> => ({ is: 'answer', value });
export const refused = (why: string): Exclude<Outcome<never>, { is: 'answer' }> => ({
  is: 'refused',
  why: why.slice(0, 300),
});
export const unreached = (why: string): Exclude<Outcome<never>, { is: 'answer' }> => ({
  is: 'unreached',
  why: why.slice(0, 300),
});

/** What came of a question that failed: an answer that is too large is the node's, and will be no smaller. */
export const failed = (error: unknown): Exclude<Outcome<never>, { is: 'answer' }> =>
  isTooLarge(error) ? refused(messageOf(error)) : unreached(messageOf(error));

/** The outcome with its value read; what cannot be read counts as refused. */
export function read<T, U>(
  outcome: Outcome<T>,
  reader: (value: T) => U | undefined,
  what: string,
): Outcome<U> {
  if (outcome.is !== 'answer') return outcome;
  const value = reader(outcome.value);
  return value === undefined ? refused(what) : answer(value);
}
