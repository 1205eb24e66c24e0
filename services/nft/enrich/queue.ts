import { status } from '@grpc/grpc-js';
import { type Database, tuple } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/literals.js';
import { RpcError } from '../../common/runtime/errors.js';
import { type Job, noDetails } from '../store/details.js';
import { type TokenPlace, textsOfToken } from '../store/lookups.js';
import type { NftStore } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import { type Ask, tokenName } from '../store/types.js';
import type { NftIndex } from '../tables.js';
import { jobNow } from './outcome.js';

/** Asks after a place, in order; all of the last place, so that the next reading begins after it. */
export function readAsks(
  database: Database,
  tables: Tables,
  after: number,
  end: number,
  limit: number,
): Promise<Ask[]> {
  return database.rows<Ask>(
    `SELECT at, subject, collection, first_key, last_key FROM ${tables.of('asks')} WHERE at > {after:UInt64} AND at <= {end:UInt64} ORDER BY at LIMIT {limit:UInt64} WITH TIES`,
    { after, end, limit },
    { name: 'nft.asks' },
  );
}

/** Jobs whose time has come, the longest due first. */
export function readDueJobs(database: Database, tables: Tables, now: number, limit: number): Promise<Job[]> {
  return database.rows<Job>(
    `SELECT subject, collection, first_key, last_key, at, state, attempts, next_ms, error FROM ${tables.of('jobs')} FINAL WHERE state = 'pending' AND next_ms <= {now:UInt64} ORDER BY next_ms, subject, collection, first_key, last_key LIMIT {limit:UInt64}`,
    { now, limit },
    { name: 'nft.due_jobs' },
  );
}

/** Most ranges of tokens that are read at once: there are few, unless an earlier version has left many. */
const mostRanges = 10_000;

/** Pending jobs about several tokens of collections, the longest due first. */
export function readPendingRanges(
  database: Database,
  tables: Tables,
  collections: readonly string[],
): Promise<Job[]> {
  const itself = (collection: string): string[] => [collection];
  return inParts(collections, itself, (some) =>
    database.rows<Job>(
      `SELECT subject, collection, first_key, last_key, at, state, attempts, next_ms, error
       FROM ${tables.of('jobs')} FINAL
       WHERE subject = 'tokens' AND collection IN {collections:Array(String)}
         AND state = 'pending' AND first_key != last_key
       ORDER BY next_ms
       LIMIT {limit:UInt64}`,
      { collections: some, limit: mostRanges },
      { name: 'nft.pending_ranges' },
    ),
  );
}

/** When the next job is due, in milliseconds since the epoch; undefined when there is none. */
export async function readNextDue(database: Database, tables: Tables): Promise<number | undefined> {
  const [row] = await database.rows<{ next: number; n: number }>(
    `SELECT min(j.next_ms) AS next, count() AS n FROM ${tables.of('jobs')} AS j FINAL WHERE state = 'pending'`,
    {},
    { name: 'nft.next_due' },
  );
  return row === undefined || row.n === 0 ? undefined : row.next;
}

/** Jobs that were given up, after a place in their order. */
export function readFailedJobs(
  database: Database,
  tables: Tables,
  collection: string,
  limit: number,
): Promise<Job[]> {
  const only = collection === '' ? '' : 'AND collection = {collection:String}';
  return database.rows<Job>(
    `SELECT subject, collection, first_key, last_key, at, state, attempts, next_ms, error FROM ${tables.of('jobs')} FINAL WHERE state = 'failed' ${only} ORDER BY subject, collection, first_key, last_key LIMIT {limit:UInt64}`,
    { limit, ...(collection === '' ? {} : { collection }) },
    { name: 'nft.failed_jobs' },
  );
}

/** Those of some tokens, by name, about which there are jobs that are not over. */
export async function lookUpOpenJobs(
  database: Database,
  tables: Tables,
  places: readonly TokenPlace[],
): Promise<Set<string>> {
  const rows = await inParts(places, textsOfToken, (some) =>
    database.rows<TokenPlace>(
      `SELECT collection, first_key AS id_key FROM ${tables.of('jobs')} FINAL WHERE subject = 'tokens' AND (collection, first_key) IN {places:Array(Tuple(String, String))} AND last_key = first_key AND state != 'done'`,
      { places: some.map(({ collection, id_key }) => tuple([collection, id_key])) },
      { name: 'nft.open_jobs' },
    ),
  );
  return new Set(rows.map(({ collection, id_key }) => tokenName(collection, id_key)));
}

/** How many jobs are pending, and how many were given up. */
export async function countJobs(
  database: Database,
  tables: Tables,
): Promise<{ readonly pending: number; readonly failed: number }> {
  const [row] = await database.rows<{ pending: number; failed: number }>(
    `SELECT countIf(state = 'pending') AS pending, countIf(state = 'failed') AS failed FROM ${tables.of('jobs')} FINAL`,
    {},
    { name: 'nft.count_jobs' },
  );
  return row ?? { pending: 0, failed: 0 };
}

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
