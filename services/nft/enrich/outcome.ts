import { isTooLarge } from '../../common/chain/batch.js';
import { NodeError, retryDelay } from '../../common/chain/endpoints.js';
import { messageOf } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Job } from '../store/details.js';
import type { Ask } from '../store/types.js';

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

/** Waits after refusals, in milliseconds: a node behind a load balancer may not be there yet. */
const refusalWaits_ms = [2_000, 10_000, 60_000, 300_000];

/** How long to wait for a node that does not answer, in milliseconds. */
const absenceWait_ms = 5_000;

/**
 * What becomes of an ask that was not answered: it is asked again, and given up after the
 * node has refused `most` times. A node that does not answer is asked for ever.
 */
export function jobAfter(
  ask: Ask & { readonly attempts?: number },
  outcome: Exclude<Outcome<unknown>, { is: 'answer' }>,
  now: number,
  most: number,
): Job {
  const { at, subject, collection, first_key, last_key } = ask;
  const attempts = (ask.attempts ?? 0) + (outcome.is === 'refused' ? 1 : 0);
  const wait =
    outcome.is === 'refused'
      ? (refusalWaits_ms[Math.min(attempts, refusalWaits_ms.length) - 1] ?? absenceWait_ms)
      : absenceWait_ms;
  return {
    ...{ at, subject, collection, first_key, last_key, attempts },
    state: attempts >= most ? 'failed' : 'pending',
    next_ms: now + wait,
    error: outcome.why.toWellFormed(),
  };
}

/** A job that is over. */
export const jobDone = ({ at, subject, collection, first_key, last_key }: Ask): Job => ({
  ...{ at, subject, collection, first_key, last_key },
  ...{ state: 'done', attempts: 0, next_ms: 0, error: '' },
});

/** A job that is due at once. */
export const jobNow = (ask: Ask): Job => ({ ...jobDone(ask), state: 'pending' });

/** A job that is given up because a process has ended, more than once, while nothing else was asked. */
export const jobFatal = (ask: Ask & { readonly attempts?: number }): Job => ({
  ...jobDone(ask),
  ...{ state: 'failed', attempts: ask.attempts ?? 0, error: 'the process has ended while it was asked for' },
});

/** Whether a job has never been tried: the rest of a range, or what a rollback makes us ask again. */
export const isUntried = (task: Ask & { readonly error?: string }): boolean => task.error === '';

/** How often a question is sent that only a node behind the others was there to answer. */
const attemptsAtBehind = 4;

/** Whether a question failed because the node that took it does not have the block yet. */
export const isBehind = (error: unknown): boolean => error instanceof NodeError && error.reason === 'behind';

/** Asks again, a few times, while a node that is behind takes the question. @throws what `ask` throws */
export async function askUntilThere<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!isBehind(error) || attempt >= attemptsAtBehind || signal.aborted) throw error;
      await sleep(retryDelay(attempt - 1), signal);
    }
  }
}
