import { suspend } from './apply.js';
import { type Controller, programs } from './controller.js';
import { gates } from './gates.js';
import { deadlineOf, type JobSummary } from './jobs.js';
import { grace_s } from './pod.js';
import {
  cronJobName,
  drainFinalizer,
  isControlledBy,
  keyOf,
  type Phase,
  phases,
  type ScoringProgram,
} from './resource.js';
import { report } from './status.js';

/** While a deleted program waits for its Jobs it is looked at so often, in milliseconds. */
const drainPoll_ms = 5_000;

/** Lets a deleted program go once none of its Jobs runs: one may have sent a tx that is not mined yet. */
export async function drain(
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

/** Writes the finalizers of a program; conflicts when it has changed meanwhile. */
export async function setFinalizers(
  { api }: Controller,
  { metadata }: ScoringProgram,
  finalizers: readonly string[],
): Promise<void> {
  const { namespace, name, resourceVersion } = metadata;
  await api.merge(programs, namespace, name, { metadata: { resourceVersion, finalizers } });
}
