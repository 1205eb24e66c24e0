import { createHash } from 'node:crypto';
import type { JobDefaults } from './job-settings.js';
import { podSpec } from './pod.js';
import {
  cronJobName,
  group,
  kind,
  labels,
  manager,
  type Phase,
  type ScoringProgram,
  version,
} from './resource.js';

/** Exit codes of the job entry that another attempt cannot heal. */
export const lastingExitCodes: readonly number[] = [64, 78];

/** Finished Jobs are removed after a week, whatever the history limits are. */
const keptFor_s = 604_800;

/**
 * The CronJob that a program shall have for a phase, as it is applied.
 *
 * @param program_text the program as JSON, which the pod runs.
 */
export function desiredCronJob(
  program: ScoringProgram,
  phase: Phase,
  program_text: string,
  suspend: boolean,
  defaults: JobDefaults,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = program;
  const run = spec[phase];
  const own = { [labels.managedBy]: manager, [labels.program]: metadata.name, [labels.phase]: phase };
  const { JOB_POD_LABELS, JOB_POD_ANNOTATIONS } = defaults.pods;
  const template = {
    metadata: {
      labels: { ...JOB_POD_LABELS, ...own },
      ...(JOB_POD_ANNOTATIONS === undefined ? {} : { annotations: JOB_POD_ANNOTATIONS }),
    },
    spec: podSpec(program, phase, program_text, defaults),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: cronJobName(metadata.name, phase),
      namespace: metadata.namespace,
      labels: own,
      annotations: { [`${group}/template-hash`]: hashOf(template) },
      ownerReferences: [
        {
          apiVersion: `${group}/${version}`,
          kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      schedule: run.schedule,
      timeZone: run.timeZone,
      suspend,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: run.startingDeadlineSeconds,
      successfulJobsHistoryLimit: run.successfulJobsHistoryLimit,
      failedJobsHistoryLimit: run.failedJobsHistoryLimit,
      jobTemplate: {
        metadata: { labels: own },
        spec: {
          backoffLimit: run.backoffLimit,
          activeDeadlineSeconds: run.activeDeadlineSeconds,
          ttlSecondsAfterFinished: keptFor_s,
          podFailurePolicy: {
            rules: [
              {
                action: 'FailJob',
                onExitCodes: { containerName: 'job', operator: 'In', values: lastingExitCodes },
              },
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
            ],
          },
          template,
        },
      },
    },
  };
}

/** A short hash that differs when the pods differ. */
const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
