import { isDeepStrictEqual } from 'node:util';
import { type ApiError, cronJobs } from '../kubernetes/api.js';
import { desiredCronJob } from './children.js';
import { type Controller, programs } from './controller.js';
import type { Gate } from './gates.js';
import { asRefusal } from './reasons.js';
import {
  type CronJob,
  cronJobName,
  group,
  isControlledBy,
  keyOf,
  kind,
  labels,
  manager,
  type Phase,
  phases,
  type ScoringProgram,
} from './resource.js';

/** What has become of a CronJob that was to be applied. */
export interface Applied {
  /** What is there then. */
  readonly cronJob?: CronJob | undefined;
  /** Whether one of that name is somebody else's. */
  readonly isForeign?: boolean;
  /** Why the API server does not take it, which another attempt alone does not heal. */
  readonly refusal?: ApiError;
}

/** Applies one CronJob. @throws ApiError for what may work when it is tried again. */
export async function applyChild(
  controller: Controller,
  program: ScoringProgram,
  phase: Phase,
  text: string | undefined,
  gate: Gate,
): Promise<Applied> {
  const { api, defaults } = controller;
  const { namespace, uid } = program.metadata;
  const name = cronJobName(program.metadata.name, phase);
  const known = controller.cronJobs
    .items()
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  // One that has lost its labels, or never had them, is not among those that are watched.
  const found = known ?? (await api.get<CronJob>(cronJobs, namespace, name));
  if (found !== undefined && !isControlledBy(found, uid)) return { isForeign: true };
  if (text === undefined) {
    if (found !== undefined) await suspend(controller, found);
    return { cronJob: found };
  }
  const body = desiredCronJob(program, phase, text, gate.suspend, defaults);
  let applied: CronJob;
  try {
    applied = await api.apply<CronJob>(cronJobs, namespace, name, body, manager);
  } catch (error) {
    const refusal = asRefusal(error, defaults.pods.JOB_EXTRA_ENV);
    if (refusal === undefined) throw error;
    // One from before goes on as it was; that it shall start nothing can be said all the same.
    if (found !== undefined && gate.suspend) await suspend(controller, found);
    return { cronJob: found, refusal };
  }
  const own = await withoutForeign(controller, applied, body['spec']);
  const isRepaired =
    own !== applied ||
    (found !== undefined &&
      found.metadata.generation !== applied.metadata.generation &&
      found.spec?.suspend === applied.spec?.suspend &&
      program.status?.observedGeneration === program.metadata.generation &&
      found.metadata.annotations?.[hashAnnotation] === applied.metadata.annotations?.[hashAnnotation]);
  if (isRepaired)
    await controller.record(program, {
      type: 'Warning',
      reason: 'DriftRepaired',
      action: 'Applied',
      note: `CronJob ${name} had been changed by somebody else and was set right`,
    });
  return { cronJob: own };
}

/**
 * Takes out of a spec what others have added to it: server-side apply leaves a variable, a container or a volume that it
 * has never had itself, and with them other things would run. What the API server would make of our spec alone is found
 * by a dry run, so that defaults, and what the cluster itself adds to every object, count as ours.
 *
 * @returns what is there then: the same object where there was nothing to take out.
 */
async function withoutForeign({ api, pure }: Controller, applied: CronJob, spec: unknown): Promise<CronJob> {
  const { namespace, name, uid } = applied.metadata;
  const key = keyOf(applied.metadata);
  const versionOf = ({ metadata }: CronJob): string => `${uid}/${metadata.generation}`;
  if (pure.get(key) === versionOf(applied)) return applied;
  const alone = await api.replaceSpec<CronJob>(cronJobs, namespace, name, spec, true);
  const isPure = isDeepStrictEqual(alone.spec, applied.spec);
  const own = isPure ? applied : await api.replaceSpec<CronJob>(cronJobs, namespace, name, spec, false);
  pure.set(key, versionOf(own));
  return own;
}

const hashAnnotation = `${group}/template-hash`;

/** Closes a CronJob without saying anything else of it. */
export async function suspend({ api }: Controller, { metadata, spec }: CronJob): Promise<void> {
  if (spec?.suspend === true) return;
  await api.merge(cronJobs, metadata.namespace, metadata.name, { spec: { suspend: true } });
}

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
