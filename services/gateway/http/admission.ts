import { status } from '@grpc/grpc-js';
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
 * Bounds the requests in progress. While there is room everybody may begin. When there is none, a client may that has less than
 * its share of them, so that one who fills the process keeps nobody else out; for those there is as much room again.
 *
 * @param most how many requests are in progress at once.
 * @param onRefuse called with each one that is refused.
 */
export function createAdmission(most: number, onRefuse: () => void): Admission {
  const inProgress = new Map<string, number>();
  let total = 0;
  return {
    begin(client) {
      const own = inProgress.get(client) ?? 0;
      const clients = inProgress.size + (own === 0 ? 1 : 0);
      const share = Math.max(1, Math.floor(most / clients));
      if (total >= most && (own >= share || total >= 2 * most)) {
        onRefuse();
        throw tooBusy;
      }
      inProgress.set(client, own + 1);
      total += 1;
      return () => {
        const left = (inProgress.get(client) ?? 1) - 1;
        if (left === 0) inProgress.delete(client);
        else inProgress.set(client, left);
        total -= 1;
      };
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
