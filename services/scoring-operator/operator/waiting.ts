import { isActive } from './jobs.js';
import type { Reason } from './reasons.js';
import type { Job, Phase } from './resource.js';

/** An event about a Job or one of its pods, as far as it is looked at. Times are RFC 3339. */
export interface ChildEvent {
  readonly metadata: { readonly creationTimestamp?: string };
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly lastObservedTime?: string } | null;
}

/** Why a Job's container does not start. */
export interface Waiting {
  readonly reason: Extract<Reason, 'SecretMissing' | 'JobNotStarting'>;
  readonly message: string;
}

/** After how long without a running container the events of a Job are looked at, in milliseconds. */
const patience_ms = 10_000;

/** Jobs whose pods do not run although they have had the time to. */
export function waitingJobs(jobs: readonly Job[], now: number): Job[] {
  return jobs.filter((job) => {
    const since = Date.parse(job.status?.startTime ?? job.metadata.creationTimestamp ?? '');
    return isActive(job) && (job.status?.ready ?? 0) === 0 && now - since >= patience_ms;
  });
}

/**
 * What events say of why a Job does not start; undefined when they say nothing. Secrets are not read: whoever mounts
 * them says which one, or which key of it, is not there. A pure function.
 */
export function whyWaiting(
  phase: Phase,
  jobs: readonly Job[],
  events: readonly ChildEvent[],
): Waiting | undefined {
  const [newest] = events
    .filter((event) => event.type === 'Warning' && jobs.some((job) => isAbout(event, job)))
    .sort((a, b) => timeOf(b) - timeOf(a));
  if (newest === undefined) return undefined;
  const note = newest.note ?? '';
  const isSecret = /secret/i.test(note) && /not found|non-existent|couldn't find key/i.test(note);
  return {
    reason: isSecret ? 'SecretMissing' : 'JobNotStarting',
    message: `the ${phase} Job ${newest.regarding?.name} does not start: ${newest.reason}: ${note}`,
  };
}

/** Pods are named after their Job. An event from before the Job, of one that had its name, says nothing of it. */
function isAbout(event: ChildEvent, { metadata }: Job): boolean {
  const { kind, name = '' } = event.regarding ?? {};
  const isOwn =
    kind === 'Job' ? name === metadata.name : kind === 'Pod' && name.startsWith(`${metadata.name}-`);
  return isOwn && timeOf(event) >= Date.parse(metadata.creationTimestamp ?? '');
}

function timeOf({ metadata, eventTime, deprecatedLastTimestamp, series }: ChildEvent): number {
  const times = [series?.lastObservedTime, deprecatedLastTimestamp, eventTime, metadata.creationTimestamp];
  return Math.max(...times.map((time) => Date.parse(time ?? '') || 0));
}
