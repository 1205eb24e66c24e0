import type { Controller } from './controller.js';
import { programs } from './controller.js';
import { notices } from './notices.js';
import { group, kind, manager, phases, type ScoringProgram, type Status, version } from './resource.js';
import { desiredStatus, differs } from './status.js';

/** A status that differs only in what every look changes is written after so long, in milliseconds. */
export const refresh_ms = 60_000;

/** What is told of a program. */
export type Report = Omit<Parameters<typeof desiredStatus>[0], 'name' | 'before' | 'generation'>;

/** Writes the status when it says something else than the one that is there, and tells what has changed. */
export async function report(controller: Controller, program: ScoringProgram, input: Report): Promise<void> {
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
