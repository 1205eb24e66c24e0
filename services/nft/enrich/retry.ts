import { status } from '@grpc/grpc-js';
import { RpcError } from '../../common/errors.js';
import type { NftIndex } from '../index.js';
import { noDetails } from '../store/details.js';
import type { NftStore } from '../store/store.js';
import { jobNow } from './policy.js';
import { readFailedJobs } from './queue.js';

/** Jobs that are taken up again in one go. */
const jobsAtOnce = 5_000;

/**
 * Asks again for the details that were given up, of one collection or of all.
 *
 * @returns how many.
 */
export async function retryFailed(index: NftIndex, store: NftStore, collection: string): Promise<number> {
  const { database, tables } = index;
  let retried = 0;
  for (;;) {
    const { revision } = store;
    const jobs = await readFailedJobs(database, tables, collection, jobsAtOnce);
    if (jobs.length === 0) return retried;
    const details = { ...noDetails, jobs: jobs.map(jobNow) };
    if (!(await store.writeDetails(details, revision)))
      throw new RpcError(status.UNAVAILABLE, 'blocks are being removed: try again');
    retried += jobs.length;
    if (jobs.length < jobsAtOnce) return retried;
  }
}
