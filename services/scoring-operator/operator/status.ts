import type { Run, StageTx } from '../store/rows.js';
import { type ConditionInput, findings, toConditions } from './conditions.js';
import { type Controller, programs } from './controller.js';
import { notices } from './events.js';
import { runStatus } from './jobs.js';
import type { Look } from './look.js';
import {
  type CronJob,
  cronJobName,
  group,
  kind,
  manager,
  type Phase,
  phases,
  type ScoringProgram,
  type StageStatus,
  type Status,
  version,
} from './resource.js';

/** What a status is made from. */
export interface StatusInput extends ConditionInput {
  readonly name: string;
  readonly cronJobs: Readonly<Partial<Record<Phase, CronJob>>>;
  /** The status that is there. */
  readonly before: Status;
}

/** Stages and hashes of txs that a status keeps at most; the tables keep all. */
const [mostStages, mostHashes, mostMessage] = [10, 50, 1_000];

/** The status of a program. A pure function. */
export function desiredStatus(input: StatusInput): Status {
  const { name, gates, jobs, cronJobs, before, generation, look, now } = input;
  const runOf = (phase: Phase) =>
    runStatus(cronJobName(name, phase), gates[phase], cronJobs[phase], jobs[phase]);
  return {
    observedGeneration: generation,
    // What was seen last stays while nothing newer is seen.
    ...(look === undefined ? kept(before) : observed(look, before)),
    score: runOf('score'),
    finalize: runOf('finalize'),
    conditions: toConditions(findings(input), generation, before.conditions ?? [], now),
  };
}

function kept({ stage, indexer, lastScoredStage, lastFinalizedStage, stages }: Status): Status {
  return defined({ stage, indexer, lastScoredStage, lastFinalizedStage, stages });
}

function observed(look: Look, before: Status): Status {
  const { l1, indexer, contract } = look.observation;
  const last = (stages: readonly bigint[]): number | undefined =>
    stages.length === 0 ? undefined : Math.max(...stages.map(Number));
  const closed = 'error' in contract ? [] : contract.stages.filter(({ is_finalized }) => is_finalized);
  const finalized = [...closed, ...look.runs.filter(({ is_finalized }) => is_finalized)].map((s) => s.stage);
  const scored = look.runs.filter((run) => run.is_verified || run.is_finalized).map(({ stage }) => stage);
  return defined({
    stage:
      'error' in l1
        ? before.stage
        : {
            current: Number(l1.stage),
            startTime: rfc3339(l1.stage_start_time),
            endTime: rfc3339(l1.stage_end_time),
            observedAt: rfc3339(Math.floor(look.at / 1000)),
          },
    indexer: 'error' in indexer ? before.indexer : { height: indexer.height, time: rfc3339(indexer.time) },
    lastScoredStage: last(scored),
    lastFinalizedStage: last(finalized),
    stages: look.runs.slice(-mostStages).map((run) => stageStatus(run, look)),
  });
}

function stageStatus(run: Run, { txs, decision, observation: { contract } }: Look): StageStatus {
  const isFinalized =
    run.is_finalized ||
    (!('error' in contract) &&
      contract.stages.some(({ stage, is_finalized }) => stage === run.stage && is_finalized));
  return {
    stage: Number(run.stage),
    phase: isFinalized ? 'Finalized' : phaseOf(run, decision),
    resultHash: run.list_hash,
    users: run.score_count,
    totalScore: String(run.total),
    txHashes: hashesOf(txs.get(run.stage) ?? []),
    ...(run.is_finalized ? { finalizedAt: rfc3339(Math.floor(run.updated_at / 1000)) } : {}),
    ...(run.error === '' || isFinalized ? {} : { message: run.error.slice(0, mostMessage) }),
  };
}

function phaseOf(run: Run, decision: Look['decision']): StageStatus['phase'] {
  if (decision.kind === 'finalize' && decision.stage === run.stage) return 'Finalizing';
  if (run.is_verified) {
    const isWaiting = decision.kind === 'wait' && decision.reason === 'ApprovalNeeded';
    return isWaiting ? 'AwaitingApproval' : 'Scored';
  }
  return run.error === '' ? 'Scoring' : 'Failed';
}

const hashesOf = (txs: readonly StageTx[]): string[] =>
  txs
    .filter(({ state, tx_hash }) => state === 'mined' && tx_hash !== '')
    .map(({ tx_hash }) => tx_hash)
    .slice(-mostHashes);

/** Whether two statuses differ in more than in what changes with every look. */
export function differs(before: Status, after: Status): boolean {
  return JSON.stringify(steady(before)) !== JSON.stringify(steady(after));
}

function steady({ stage, indexer: _, conditions, ...rest }: Status): unknown {
  const { observedAt: __, ...lasting } = stage ?? { observedAt: '' };
  return sorted({ ...rest, stage: lasting, conditions });
}

/** Keys in one order: the API server has its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
}

const defined = (status: { readonly [K in keyof Status]: Status[K] | undefined }): Status =>
  Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)) as Status;

/** Unix seconds as Kubernetes writes times. */
const rfc3339 = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;

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
