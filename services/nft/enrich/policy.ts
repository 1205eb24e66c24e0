import type { Job } from '../store/details.js';
import type { Ask } from '../store/types.js';
import type { Outcome } from './outcome.js';

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
