import { applyChild } from './apply.js';
import type { Controller } from './controller.js';
import { drain, setFinalizers } from './drain.js';
import { checkedProgram, ProblemError, resolveProgram } from './eyes.js';
import { gates } from './gates.js';
import { type JobSummary, summarise } from './jobs.js';
import type { Seen } from './look.js';
import { removeOthers } from './orphans.js';
import { refresh_ms, report } from './report.js';
import {
  type CronJob,
  cronJobName,
  drainFinalizer,
  labels,
  type Phase,
  phases,
  type ScoringProgram,
} from './resource.js';

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
