import type { Log } from '../../common/log.js';
import { cronJobs, type KubeApi } from '../kubernetes/api.js';
import type { Watched } from '../kubernetes/watch.js';
import { desiredCronJob, grace_s, type JobDefaults } from './children.js';
import type { Notice } from './events.js';
import { checkedProgram, ProblemError, resolveProgram } from './eyes.js';
import { type Gate, gates } from './gates.js';
import { deadlineOf, type JobSummary, summarise } from './jobs.js';
import type { Seen } from './look.js';
import type { OperatorMetrics } from './metrics.js';
import { notices } from './notices.js';
import type { Observer } from './observer.js';
import {
  type CronJob,
  cronJobName,
  drainFinalizer,
  group,
  isControlledBy,
  type Job,
  keyOf,
  kind,
  labels,
  manager,
  type Phase,
  phases,
  plural,
  type ScoringProgram,
  type Status,
  version,
} from './resource.js';
import { desiredStatus, differs } from './status.js';

/** What a reconciliation works with. */
export interface Controller {
  readonly api: KubeApi;
  readonly programs: Pick<Watched<ScoringProgram>, 'get'>;
  readonly cronJobs: Pick<Watched<CronJob>, 'items'>;
  readonly jobs: Pick<Watched<Job>, 'items'>;
  readonly observer: Observer;
  readonly defaults: JobDefaults;
  readonly record: (program: ScoringProgram, notice: Notice) => Promise<void>;
  readonly metrics: OperatorMetrics;
  readonly log: Log;
  /** Failed Jobs that were counted. */
  readonly counted: Set<string>;
  /** When this process began to lead, unix milliseconds: Jobs that failed before are another's to count. */
  readonly since: number;
}

export const programs = { group, version, plural };

/** A status that differs only in what every look changes is written after so long, in milliseconds. */
const refresh_ms = 60_000;

/** While a deleted program waits for its Jobs it is looked at so often, in milliseconds. */
const drainPoll_ms = 5_000;

/**
 * Brings the children and the status of one program to what they shall be. Level-based: it looks at what is, not at what
 * has changed, so it may be repeated or cut short anywhere.
 *
 * @returns milliseconds until it is to be done again without a cause.
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
  const present: Partial<Record<Phase, CronJob>> = {};
  for (const phase of phases) {
    const child = await applyChild(controller, program, phase, text, wanted[phase]);
    if (child === 'conflict') conflicts.push(cronJobName(name, phase));
    else if (child !== undefined) present[phase] = child;
  }
  await removeOthers(controller, program);
  await report(controller, program, {
    ...input,
    gates: wanted,
    jobs,
    conflicts,
    cronJobs: present,
  });
  return refresh_ms;
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

/** Applies one CronJob. @returns what is there then; 'conflict' when one of that name is somebody else's. */
async function applyChild(
  controller: Controller,
  program: ScoringProgram,
  phase: Phase,
  text: string | undefined,
  gate: Gate,
): Promise<CronJob | 'conflict' | undefined> {
  const { api, defaults } = controller;
  const { namespace, uid } = program.metadata;
  const name = cronJobName(program.metadata.name, phase);
  const known = controller.cronJobs
    .items()
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  // One that has lost its labels, or never had them, is not among those that are watched.
  const found = known ?? (await api.get<CronJob>(cronJobs, namespace, name));
  if (found !== undefined && !isControlledBy(found, uid)) return 'conflict';
  if (text === undefined) {
    if (found !== undefined) await suspend(controller, found);
    return found;
  }
  const body = desiredCronJob(program, phase, text, gate.suspend, defaults);
  const applied = await api.apply<CronJob>(cronJobs, namespace, name, body, manager);
  const isRepaired =
    found !== undefined &&
    found.metadata.generation !== applied.metadata.generation &&
    found.spec?.suspend === applied.spec?.suspend &&
    program.status?.observedGeneration === program.metadata.generation &&
    found.metadata.annotations?.[hashAnnotation] === applied.metadata.annotations?.[hashAnnotation];
  if (isRepaired)
    await controller.record(program, {
      type: 'Warning',
      reason: 'DriftRepaired',
      action: 'Applied',
      note: `CronJob ${name} had been changed by somebody else and was set right`,
    });
  return applied;
}

const hashAnnotation = `${group}/template-hash`;

/** Closes a CronJob without saying anything else of it. */
async function suspend({ api }: Controller, { metadata, spec }: CronJob): Promise<void> {
  if (spec?.suspend === true) return;
  await api.merge(cronJobs, metadata.namespace, metadata.name, { spec: { suspend: true } });
}

/** Removes CronJobs of a program that it shall not have. */
async function removeOthers(controller: Controller, program: ScoringProgram): Promise<void> {
  const wanted = phases.map((phase) => cronJobName(program.metadata.name, phase));
  for (const cronJob of controller.cronJobs.items()) {
    if (!isControlledBy(cronJob, program.metadata.uid) || wanted.includes(cronJob.metadata.name)) continue;
    await removeOrphan(controller, cronJob);
    const note = `CronJob ${cronJob.metadata.name} is none of this program's`;
    await controller.record(program, { type: 'Normal', reason: 'OrphanRemoved', action: 'Removed', note });
  }
}

/** CronJobs of programs that are gone: the garbage collector leaves those whose owner was removed as an orphan. */
export async function removeOrphans(controller: Controller, all: readonly ScoringProgram[]): Promise<void> {
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  for (const cronJob of controller.cronJobs.items()) {
    const { ownerReferences = [], labels: own = {} } = cronJob.metadata;
    const owner = ownerReferences.find((reference) => reference.controller);
    const isOurs = own[labels.managedBy] === manager && own[labels.program] !== undefined;
    const isOrphan = owner === undefined || (owner.kind === kind && !uids.has(owner.uid));
    if (!isOurs || !isOrphan) continue;
    // What is known here may be a moment old: the API server has the last word.
    const { namespace } = cronJob.metadata;
    const found = owner && (await controller.api.get<ScoringProgram>(programs, namespace, owner.name));
    if (found === undefined || found.metadata.uid !== owner?.uid) await removeOrphan(controller, cronJob);
  }
}

async function removeOrphan({ api, log }: Controller, { metadata }: CronJob): Promise<void> {
  log.warn({ cronJob: keyOf(metadata) }, 'a CronJob without a program is removed');
  await api.remove(cronJobs, metadata.namespace, metadata.name, metadata.uid);
}

/** Lets a deleted program go once none of its Jobs runs: one may have sent a tx that is not mined yet. */
async function drain(
  controller: Controller,
  program: ScoringProgram,
  jobs: Record<Phase, JobSummary>,
): Promise<number | undefined> {
  const { metadata, spec } = program;
  controller.observer.forget(keyOf(metadata));
  if (!(metadata.finalizers ?? []).includes(drainFinalizer)) return undefined;
  const own = controller.cronJobs.items().filter((cronJob) => isControlledBy(cronJob, metadata.uid));
  for (const cronJob of own) await suspend(controller, cronJob);
  const active = phases.flatMap((phase) => jobs[phase].active);
  const now = Date.now();
  // Its own deadline ends a Job; this is for one whose controller does not see to it.
  const late = active.filter((job) => now > (deadlineOf(job) ?? now) + 2 * grace_s * 1_000);
  if (active.length > late.length) {
    const activeCounts = { score: jobs.score.active.length, finalize: jobs.finalize.active.length };
    const input = { spec, isDeleted: true, active: activeCounts, now, look: undefined };
    const present = Object.fromEntries(
      phases.map((phase) => [
        phase,
        own.find((cronJob) => cronJob.metadata.name === cronJobName(metadata.name, phase)),
      ]),
    );
    await report(controller, program, {
      ...input,
      gates: gates(input),
      jobs,
      conflicts: [],
      cronJobs: present,
    });
    return drainPoll_ms;
  }
  await controller.record(program, {
    type: late.length > 0 ? 'Warning' : 'Normal',
    reason: late.length > 0 ? 'DrainTimedOut' : 'Drained',
    action: 'Released',
    note: late.length > 0 ? `${late.length} Jobs did not end by their deadline` : 'no Job runs any more',
  });
  await setFinalizers(
    controller,
    program,
    (metadata.finalizers ?? []).filter((finalizer) => finalizer !== drainFinalizer),
  );
  return undefined;
}

async function setFinalizers(
  { api }: Controller,
  { metadata }: ScoringProgram,
  finalizers: readonly string[],
): Promise<void> {
  const { namespace, name, resourceVersion } = metadata;
  await api.merge(programs, namespace, name, { metadata: { resourceVersion, finalizers } });
}

type Report = Omit<Parameters<typeof desiredStatus>[0], 'name' | 'before' | 'generation'>;

/** Writes the status when it says something else than the one that is there, and tells what has changed. */
async function report(controller: Controller, program: ScoringProgram, input: Report): Promise<void> {
  const { api, metrics } = controller;
  const { metadata } = program;
  const before = program.status ?? {};
  const status: Status = desiredStatus({
    ...input,
    name: metadata.name,
    generation: metadata.generation ?? 0,
    before,
  });
  metrics.show(program, status, input.look);
  countFailures(controller, program, input.jobs);
  const seen_at = Date.parse(before.stage?.observedAt ?? '') || 0;
  const isOld = status.stage !== undefined && input.now - seen_at > refresh_ms;
  if (!differs(before, status) && !isOld) return;
  await api.applyStatus(
    programs,
    metadata.namespace,
    metadata.name,
    {
      apiVersion: `${group}/${version}`,
      kind,
      // Not a program of the same name that was made meanwhile.
      metadata: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
      status,
    },
    manager,
  );
  for (const notice of notices(before, status)) await controller.record(program, notice);
}

function countFailures(controller: Controller, program: ScoringProgram, jobs: Report['jobs']): void {
  for (const phase of phases)
    for (const { metadata, status } of jobs[phase].failed) {
      const ended = (status?.conditions ?? []).map(({ lastTransitionTime = '' }) =>
        Date.parse(lastTransitionTime),
      );
      // Times of the API have whole seconds.
      if (controller.counted.has(metadata.uid) || Math.max(...ended) < controller.since - 1_000) continue;
      controller.counted.add(metadata.uid);
      controller.metrics.jobFailed(program, phase);
    }
}
