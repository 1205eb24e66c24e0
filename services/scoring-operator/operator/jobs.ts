import type { CronJob, Job, RunStatus } from './resource.js';

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
