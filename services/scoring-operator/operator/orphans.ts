import { cronJobs } from '../kubernetes/api.js';
import { type Controller, programs } from './controller.js';
import {
  type CronJob,
  cronJobName,
  isControlledBy,
  keyOf,
  kind,
  labels,
  manager,
  phases,
  type ScoringProgram,
} from './resource.js';

/** Removes CronJobs of a program that it shall not have. */
export async function removeOthers(controller: Controller, program: ScoringProgram): Promise<void> {
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
