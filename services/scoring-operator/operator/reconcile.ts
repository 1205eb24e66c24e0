import { messageOf } from '../../common/runtime/errors.js';
import { type ApiError, events } from '../kubernetes/api.js';
import { applyChild, removeOthers } from './apply.js';
import type { Controller } from './controller.js';
import { drain, setFinalizers } from './drain.js';
import { checkedProgram, ProblemError, resolveProgram } from './eyes.js';
import { gates } from './gates.js';
import {
  type ChildEvent,
  type JobSummary,
  summarise,
  type Waiting,
  waitingJobs,
  whyWaiting,
} from './jobs.js';
import type { Seen } from './look.js';
import {
  type CronJob,
  cronJobName,
  drainFinalizer,
  labels,
  type Phase,
  phases,
  type ScoringProgram,
} from './resource.js';
import { refresh_ms, report } from './status.js';

/** While a Job has not started its program is looked at so often, in milliseconds. */
const starting_ms = 5_000;

/**
 * Brings the children and the status of one program to what they shall be. Level-based: it looks at what is, not at what
 * has changed, so it may be repeated or cut short anywhere.
 *
 * @returns milliseconds until it is to be done again without a cause.
 * @throws ApiError
 */
export async function reconcile(controller: Controller, key: string): Promise<number | undefined> {
  const [namespace = '', name = ''] = key.split('/');
  const program = controller.programs.get(namespace, name);
  if (program === undefined) {
    controller.observer.forget(key);
    controller.metrics.forget(namespace, name);
    return undefined;
  }
  const jobs = summaries(controller, program);
  if (program.metadata.deletionTimestamp !== undefined) return drain(controller, program, jobs);
  if (!(program.metadata.finalizers ?? []).includes(drainFinalizer)) {
    await setFinalizers(controller, program, [...(program.metadata.finalizers ?? []), drainFinalizer]);
  }
  const watched = controller.observer.watch(program);
  const { text, seen } = await textOf(controller, program, watched);
  const active = { score: jobs.score.active.length, finalize: jobs.finalize.active.length };
  const now = Date.now();
  const isDeleted = false;
  const input = { spec: program.spec, isDeleted, active, now, ...seen };
  const wanted = gates(input);
  const conflicts: string[] = [];
  const refusals: ApiError[] = [];
  const present: Partial<Record<Phase, CronJob>> = {};
  for (const phase of phases) {
    const { cronJob, isForeign, refusal } = await applyChild(controller, program, phase, text, wanted[phase]);
    if (isForeign) conflicts.push(cronJobName(name, phase));
    if (cronJob !== undefined) present[phase] = cronJob;
    if (refusal !== undefined) refusals.push(refusal);
  }
  await removeOthers(controller, program);
  const waiting = await lookForWaiting(controller, program, jobs, now);
  await report(controller, program, {
    ...input,
    gates: wanted,
    jobs,
    waiting,
    conflicts,
    refusal: refusals[0]?.message,
    cronJobs: present,
  });
  // It is said; what is left to do is to try again later, and to count it.
  if (refusals[0] !== undefined) throw refusals[0];
  // Nothing tells of a Job that goes on not starting, or of why.
  const isStarting = phases.some(
    (phase) => waitingJobs(jobs[phase].active, Number.POSITIVE_INFINITY).length > 0,
  );
  return isStarting ? starting_ms : refresh_ms;
}

/**
 * Reads why Jobs do not start, only where one does not.
 *
 * @returns undefined also when the events cannot be read: without them everything else is still told.
 */
async function lookForWaiting(
  { api, log }: Controller,
  { metadata }: ScoringProgram,
  jobs: Record<Phase, JobSummary>,
  now: number,
): Promise<Waiting | undefined> {
  const late = phases.map((phase) => ({ phase, some: waitingJobs(jobs[phase].active, now) }));
  if (late.every(({ some }) => some.length === 0)) return undefined;
  try {
    const { items } = await api.list<ChildEvent>(events, metadata.namespace, {
      fieldSelector: 'type=Warning',
    });
    return late.map(({ phase, some }) => whyWaiting(phase, some, items)).find((one) => one !== undefined);
  } catch (error) {
    log.warn(
      { namespace: metadata.namespace, program: metadata.name, err: error },
      `why Jobs do not start cannot be read: ${messageOf(error)}`,
    );
    return undefined;
  }
}

/** What the Jobs shall run; what is known says it when that cannot be made. */
async function textOf(
  { api }: Controller,
  program: ScoringProgram,
  seen: Seen,
): Promise<{ readonly text: string | undefined; readonly seen: Seen }> {
  try {
    const { text, file } = await resolveProgram(api, program);
    checkedProgram(file);
    return { text, seen };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { text: undefined, seen: { ...seen, problem: error.problem } };
  }
}

function summaries({ jobs }: Controller, { metadata }: ScoringProgram): Record<Phase, JobSummary> {
  const of = (phase: Phase): JobSummary =>
    summarise(
      jobs
        .items()
        .filter(
          (job) =>
            job.metadata.namespace === metadata.namespace &&
            job.metadata.labels?.[labels.program] === metadata.name &&
            job.metadata.labels[labels.phase] === phase,
        ),
    );
  return { score: of('score'), finalize: of('finalize') };
}
