import { createHash } from 'node:crypto';
import type { Log } from '../../common/runtime/log.js';
import { events, isConflict, type KubeApi } from '../kubernetes/api.js';
import { microTime } from '../kubernetes/lease.js';
import { asReason, type Reason } from './reasons.js';
import {
  type Condition,
  group,
  kind,
  manager,
  type ScoringProgram,
  type Status,
  version,
} from './resource.js';

/** Something that people who look at a program shall see. */
export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  /** What was done or found, in one CamelCase word. */
  readonly action: string;
  readonly note: string;
}

interface EventRecord {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly series?: { readonly count: number };
}

/** An event's note may have so many characters. */
const mostNote = 1_000;

/**
 * Records notices as events. The same notice of the same program has the same name, whoever writes it: said again it is
 * counted in its series. A notice that cannot be written is logged, and nothing fails because of it.
 */
export function createRecorder(
  api: Pick<KubeApi, 'get' | 'create' | 'merge'>,
  identity: string,
  log: Log,
): (program: ScoringProgram, notice: Notice) => Promise<void> {
  return async ({ metadata, apiVersion }, { type, reason, action, note }) => {
    const { namespace, uid } = metadata;
    const name = `${metadata.name}.${digest(`${uid}/${type}/${reason}/${action}/${note}`)}`;
    const now = microTime();
    try {
      await api
        .create(events, namespace, {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: { name, namespace },
          eventTime: now,
          type,
          reason,
          action,
          note: note.slice(0, mostNote) || reason,
          regarding: {
            apiVersion: apiVersion ?? `${group}/${version}`,
            kind,
            namespace,
            name: metadata.name,
            uid,
          },
          reportingController: `${group}/${manager}`,
          reportingInstance: identity.slice(0, 128),
        })
        .catch(async (error: unknown) => {
          if (!isConflict(error)) throw error;
          const known = await api.get<EventRecord>(events, namespace, name);
          const count = Math.max(2, (known?.series?.count ?? 1) + 1);
          await api.merge(events, namespace, name, { series: { count, lastObservedTime: now } });
        });
    } catch (error) {
      log.warn({ err: error, reason }, 'an event could not be written');
    }
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Conditions whose being true is the bad case. */
const badWhenTrue: ReadonlySet<string> = new Set(['Degraded']);

/** Conditions that say what is under way: neither case is bad. */
const neutral: ReadonlySet<string> = new Set(['ScoreUpToDate', 'FinalizationPending']);

/** Reasons that mean that nothing is known yet: no news. */
const silent: ReadonlySet<string> = new Set<Reason>(['NotObserved', 'Stale']);

/** What has changed between two statuses that people shall be told. A pure function. */
export function notices(before: Status, after: Status): Notice[] {
  const all = [
    ...changedConditions(before, after),
    ...changedStages(before, after),
    ...failedJobs(before, after),
  ];
  // One thing often shows in several conditions: the first of them, Ready if it is among them, tells it.
  const said = ({ reason, note }: Notice): string => `${reason} ${note}`;
  return all.filter((one, index) => all.findIndex((other) => said(other) === said(one)) === index);
}

function changedConditions(before: Status, after: Status): Notice[] {
  return (after.conditions ?? []).flatMap((condition): Notice[] => {
    const old = before.conditions?.find(({ type }) => type === condition.type);
    const isSame = old?.status === condition.status && old.reason === condition.reason;
    if (isSame || silent.has(condition.reason)) return [];
    // That something bad is not the case is no news at the beginning.
    if (old === undefined && condition.type === 'Degraded' && condition.status === 'False') return [];
    return [
      {
        type: isBad(condition) ? 'Warning' : 'Normal',
        reason: asReason(condition.reason),
        action: condition.type,
        note: condition.message || `${condition.type} is ${condition.status}`,
      },
    ];
  });
}

function isBad({ type, status, reason }: Condition): boolean {
  if (neutral.has(type) || reason === 'Suspended' || reason === 'Draining') return false;
  return badWhenTrue.has(type) ? status === 'True' : status === 'False';
}

function changedStages(before: Status, after: Status): Notice[] {
  return (after.stages ?? []).flatMap(({ stage, phase, users = 0, totalScore = '0' }): Notice[] => {
    const old = before.stages?.find((one) => one.stage === stage)?.phase;
    if (phase === old || before.stages === undefined) return [];
    if (phase === 'Finalized')
      return [
        {
          type: 'Normal',
          reason: 'StageFinalized',
          action: 'Finalized',
          note: `stage ${stage} is finalized: ${users} scores, ${totalScore} in all`,
        },
      ];
    if (phase === 'Finalizing')
      return [
        {
          type: 'Normal',
          reason: 'FinalizationBegins',
          action: 'Unsuspended',
          note: `stage ${stage} may be finalized: ${users} scores, ${totalScore} in all`,
        },
      ];
    return [];
  });
}

function failedJobs(before: Status, after: Status): Notice[] {
  return (['score', 'finalize'] as const).flatMap((phase): Notice[] => {
    const [old = 0, failures = 0] = [before[phase]?.consecutiveFailures, after[phase]?.consecutiveFailures];
    if (failures <= old) return [];
    const note = `a ${phase} Job has failed, ${failures} in a row: its pod's log says why`;
    return [{ type: 'Warning', reason: 'JobFailed', action: phase === 'score' ? 'Score' : 'Finalize', note }];
  });
}
