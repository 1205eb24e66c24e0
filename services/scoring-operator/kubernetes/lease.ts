import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import { isConflict, type KubeApi, leases } from './api.js';

/*
 * A Lease is a record that says who may do something, until when it was last renewed. What holds:
 *
 * 1. A record is never judged by comparing clocks: it has run out when it has not CHANGED for its duration, by the
 *    monotonic clock of whoever looks.
 * 2. Every write names the version that was read, so of several at once one wins.
 * 3. A holder that could not renew for the renew deadline, which is shorter than the duration, gives up before anybody
 *    else can take over.
 */

/** How long things last, in milliseconds. */
export interface LeaseTimes {
  /** After so long without a change the record counts as abandoned. */
  readonly duration_ms: number;
  /** After so long without a successful renewal the holder gives up; shorter than the duration. */
  readonly renew_deadline_ms: number;
  /** Between two attempts to take it or to renew it. */
  readonly retry_ms: number;
}

/** The usual proportions for a duration in seconds. */
export const leaseTimes = (seconds: number): LeaseTimes => ({
  duration_ms: seconds * 1_000,
  renew_deadline_ms: (seconds * 2_000) / 3,
  retry_ms: (seconds * 2_000) / 15,
});

/** Where Leases are read and written. */
export type LeaseApi = Pick<KubeApi, 'get' | 'create' | 'replace'>;

export interface LeaseOptions {
  readonly api: LeaseApi;
  readonly namespace: string;
  readonly name: string;
  /** Nobody else's. */
  readonly identity: string;
  readonly times: LeaseTimes;
  readonly log: Log;
  /** Milliseconds that never go back; tests have their own. */
  readonly clock?: () => number;
}

/** A Lease as JSON has it. */
export interface LeaseRecord {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** A Lease that is held and renewed. */
export interface HeldLease {
  /** Aborted when it is lost: nothing may be done any more that needs it. */
  readonly lost: AbortSignal;
  /** Gives it back, so that the next need not wait. */
  release(): Promise<void>;
}

/** What a look at a record says of who may take it. */
export type Judgement = 'free' | 'mine' | 'held';

/**
 * Whether a record may be taken. A pure function.
 *
 * @param unchanged_ms how long the record has been seen without a change.
 */
export function judge(
  { spec }: Pick<LeaseRecord, 'spec'>,
  identity: string,
  unchanged_ms: number,
  duration_ms: number,
): Judgement {
  const holder = spec?.holderIdentity ?? '';
  if (holder === '') return 'free';
  if (holder === identity) return 'mine';
  const lasts_ms = (spec?.leaseDurationSeconds ?? duration_ms / 1_000) * 1_000;
  return unchanged_ms >= lasts_ms ? 'free' : 'held';
}

/**
 * Waits until the Lease is ours.
 *
 * @param wait_ms how long at most; undefined when it is held by somebody else for all that time, or the signal comes.
 */
export async function acquireLease(
  options: LeaseOptions,
  wait_ms = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<HeldLease | undefined> {
  const { clock = monotonic, times, log, name } = options;
  const end = clock() + wait_ms;
  const attempt = createAttempt(options, clock);
  let told = '';
  while (!signal?.aborted) {
    const { record, holder } = await attempt().catch((error: unknown) => {
      log.warn({ lease: name, err: error }, 'the Lease cannot be taken now');
      return { record: undefined, holder: '' };
    });
    if (record !== undefined) return keep(options, clock, record);
    if (holder !== told) log.info({ lease: name, holder }, 'the Lease is held by another');
    told = holder;
    const left = end - clock();
    if (left <= 0) return undefined;
    await sleep(Math.min(left, jittered(times.retry_ms)), signal);
  }
  return undefined;
}

/** One attempt after the other, which remember when the record was last seen to change. */
function createAttempt(
  options: LeaseOptions,
  clock: () => number,
): () => Promise<{ readonly record: LeaseRecord | undefined; readonly holder: string }> {
  const { api, namespace, name, identity, times } = options;
  let seen = { version: '', at: 0 };
  return async () => {
    const found = await api.get<LeaseRecord>(leases, namespace, name);
    try {
      if (found === undefined) {
        const record = await api.create<LeaseRecord>(leases, namespace, body(options, 0));
        return { record, holder: identity };
      }
      const version = found.metadata.resourceVersion;
      if (version !== seen.version) seen = { version, at: clock() };
      const holder = found.spec?.holderIdentity ?? '';
      if (judge(found, identity, clock() - seen.at, times.duration_ms) === 'held')
        return { record: undefined, holder };
      const transitions = (found.spec?.leaseTransitions ?? 0) + (holder === identity ? 0 : 1);
      const next = body(options, transitions, version);
      return { record: await api.replace<LeaseRecord>(leases, namespace, name, next), holder: identity };
    } catch (error) {
      if (isConflict(error)) return { record: undefined, holder: 'somebody who was faster' };
      throw error;
    }
  };
}

/** Renews a Lease until it is released or lost. */
function keep(options: LeaseOptions, clock: () => number, first: LeaseRecord): HeldLease {
  const { api, namespace, name, times, log, identity } = options;
  const lost = new AbortController();
  const released = new AbortController();
  let record = first;
  let renewed_at = clock();

  const lose = (why: string): void => {
    log.error({ lease: name }, `the Lease is lost: ${why}`);
    lost.abort();
  };
  const renew = async (): Promise<void> => {
    const acquired = record.spec?.acquireTime;
    const next = body(options, record.spec?.leaseTransitions ?? 0, record.metadata.resourceVersion, acquired);
    const asked_at = clock();
    record = await api.replace<LeaseRecord>(leases, namespace, name, next);
    renewed_at = asked_at;
  };
  /** After a conflict: our own write whose answer was lost, or somebody else's. */
  const isStillOurs = async (): Promise<boolean> => {
    const found = await api.get<LeaseRecord>(leases, namespace, name);
    if (found?.spec?.holderIdentity !== identity) return false;
    record = found;
    return true;
  };
  const work = async (): Promise<void> => {
    while (!released.signal.aborted) {
      await sleep(jittered(times.retry_ms), released.signal);
      if (released.signal.aborted) return;
      try {
        await renew();
      } catch (error) {
        if (isConflict(error) && (await isStillOurs().catch(() => true)) === false)
          return lose('another has taken it');
        log.warn({ lease: name, err: error }, 'the Lease could not be renewed');
      }
      // A process that was stopped for a while learns of it here.
      if (clock() - renewed_at > times.renew_deadline_ms) return lose('it could not be renewed in time');
    }
  };
  const watchdog = setInterval(() => {
    if (lost.signal.aborted || clock() - renewed_at <= times.renew_deadline_ms) return;
    lose('it was not renewed in time');
  }, times.retry_ms);
  const done = work();
  return {
    lost: lost.signal,
    async release() {
      clearInterval(watchdog);
      released.abort();
      await done;
      if (lost.signal.aborted) return;
      const { metadata, spec } = record;
      const free = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, resourceVersion: metadata.resourceVersion },
        spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 },
      };
      await api.replace(leases, namespace, name, free).catch((error: unknown) => {
        log.warn({ lease: name, err: error }, 'the Lease could not be given back: it runs out by itself');
      });
    },
  };
}

function body(
  { namespace, name, identity, times }: LeaseOptions,
  leaseTransitions: number,
  resourceVersion?: string,
  acquireTime = microTime(),
): Record<string, unknown> {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(1, Math.ceil(times.duration_ms / 1_000)),
      acquireTime,
      renewTime: microTime(),
      leaseTransitions,
    },
  };
}

/** Now, with the microseconds that the API wants. */
export const microTime = (): string => new Date().toISOString().replace('Z', '000Z');

const monotonic = (): number => performance.now();

/** Up to a fifth more, so that several do not ask at the same moment. */
const jittered = (ms: number): number => ms * (1 + Math.random() / 5);
