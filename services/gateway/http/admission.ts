import { status } from '@grpc/grpc-js';
import { createShares } from '../../common/shares.js';
import { ProblemError } from '../errors.js';

/** Lets requests begin that have to ask a service, so many at once. */
export interface Admission {
  /**
   * Begins a request of a client.
   *
   * @returns what ends it.
   * @throws ProblemError 503 when too many are in progress.
   */
  begin(client: string): () => void;
}

/** Seconds after which a client that was refused may try again. */
export const retryAfter_s = 1;

/**
 * Bounds the requests in progress; when there are too many each client gets its share.
 *
 * @param most how many requests are in progress at once.
 * @param onRefuse called with each one that is refused.
 */
export function createAdmission(most: number, onRefuse: () => void): Admission {
  const shares = createShares(most);
  return {
    begin(client) {
      const end = shares.take(client);
      if (end !== undefined) return end;
      onRefuse();
      throw tooBusy;
    },
  };
}

/** Made once: it is thrown most when there is least time. */
const tooBusy = new ProblemError({
  http: 503,
  code: status.RESOURCE_EXHAUSTED,
  message: `too many requests are in progress, try again in ${retryAfter_s} s`,
  headers: { 'retry-after': String(retryAfter_s) },
  refused: true,
});
