import type { Reason } from './reasons.js';
import type { CronJob, Job, Phase, RunStatus } from './resource.js';

/** What the Jobs of a phase have come to. */
export interface JobSummary {
  readonly active: readonly Job[];
  /** Jobs that have failed since the last one that succeeded. */
  readonly failures: number;
  readonly failed: readonly Job[];
}

/** Whether a Job still runs, or will: neither complete nor failed. */
export function isActive(job: Job): boolean {
  return outcome(job) === undefined;
}

/** How a Job has ended; undefined while it has not. */
export function outcome({ status }: Job): 'Complete' | 'Failed' | undefined {
  const ended = status?.conditions?.find(
    ({ type, status: is }) => is === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  return ended?.type as 'Complete' | 'Failed' | undefined;
}

/** Sums up the Jobs of one phase of one program. */
export function summarise(jobs: readonly Job[]): JobSummary {
  const newestFirst = [...jobs].sort((a, b) => endOf(b).localeCompare(endOf(a)));
  const ended = newestFirst.filter((job) => !isActive(job));
  const good = ended.findIndex((job) => outcome(job) === 'Complete');
  return {
    active: jobs.filter(isActive),
    failures: good === -1 ? ended.length : good,
    failed: ended.filter((job) => outcome(job) === 'Failed'),
  };
}

function endOf({ metadata, status }: Job): string {
  const times = (status?.conditions ?? []).map(({ lastTransitionTime = '' }) => lastTransitionTime);
  return [status?.completionTime ?? '', ...times].sort().at(-1) || (metadata.creationTimestamp ?? '');
}

/** Most names of Jobs in a status. */
const mostNames = 10;

/** What a status says of a phase. */
export function runStatus(
  cronJobName: string,
  gate: { readonly suspend: boolean; readonly reason: string },
  cronJob: CronJob | undefined,
  { active, failures }: JobSummary,
): RunStatus {
  const { lastScheduleTime, lastSuccessfulTime } = cronJob?.status ?? {};
  return {
    cronJobName,
    suspended: gate.suspend,
    reason: gate.reason,
    activeJobs: active
      .map(({ metadata }) => metadata.name)
      .sort()
      .slice(0, mostNames),
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
    consecutiveFailures: failures,
  };
}

/** Unix milliseconds when a Job has to be over, by its own deadline; undefined for one that has none. */
export function deadlineOf({ metadata, spec, status }: Job): number | undefined {
  const start = Date.parse(status?.startTime ?? metadata.creationTimestamp ?? '');
  if (spec?.activeDeadlineSeconds === undefined || Number.isNaN(start)) return undefined;
  return start + spec.activeDeadlineSeconds * 1_000;
}

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
