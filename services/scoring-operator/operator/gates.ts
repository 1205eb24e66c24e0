import { describe } from '../machine/run.js';
import { gasTooDear, type Look, type Seen } from './look.js';
import { asReason, type Reason } from './reasons.js';
import type { Phase, Spec } from './resource.js';

/*
 * A CronJob starts Jobs only while its gate is open. A gate is never what a stage's safety hangs on: a Job looks at
 * everything again itself. It keeps Jobs from being started for nothing, and says in one word why.
 */

/** Whether a CronJob is suspended, and why. */
export interface Gate {
  readonly suspend: boolean;
  readonly reason: Reason;
  readonly message: string;
}

export interface GateInput extends Seen {
  readonly spec: Spec;
  readonly isDeleted: boolean;
  /** Jobs that run. */
  readonly active: Readonly<Record<Phase, number>>;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A look counts for at least so long, in milliseconds, and for so many looks that failed. */
const [freshFor_ms, missedLooks] = [60_000, 5];

/** The gates of both CronJobs. A pure function. */
export function gates(input: GateInput): Readonly<Record<Phase, Gate>> {
  const shared = closedForBoth(input);
  if (shared !== undefined) return { score: shared, finalize: shared };
  return { score: scoreGate(input), finalize: finalizeGate(input) };
}

function closedForBoth({ spec, isDeleted, problem }: GateInput): Gate | undefined {
  if (isDeleted) return closed('Draining', 'the program is deleted');
  if (spec.suspend) return closed('Suspended', 'spec.suspend is true');
  if (problem?.isLasting) return closed(problem.reason, problem.message);
  return undefined;
}

/** Scoring runs by its schedule: a Job that finds no stage over does nothing. */
function scoreGate({ look }: GateInput): Gate {
  if (look?.decision.kind === 'nothing' && look.decision.reason === 'Stopped')
    return closed('Stopped', look.decision.message ?? '');
  return open('Scheduled', 'runs by its schedule');
}

function finalizeGate({ look, isOutdated, spec, active, now }: GateInput): Gate {
  if (look === undefined || isOutdated)
    return closed('NotObserved', 'nothing was looked at yet since the last change');
  if (isStale(look, spec, now)) return closed('Stale', 'the last look is too old to go by');
  const { decision, observation } = look;
  if (decision.kind !== 'finalize') {
    const { reason, message } = describe(decision);
    return closed(decision.kind === 'score' ? 'ScorePending' : asReason(reason), message);
  }
  const dear = gasTooDear(look.signer);
  if (dear !== undefined) return closed('GasPriceTooHigh', dear);
  if (active.score > 0) return closed('ScoreJobActive', 'a score Job still runs');
  const unconfirmed = confirmationsNeeded(look, spec, decision.stage);
  if (unconfirmed !== undefined) return closed('ConfirmationsNeeded', unconfirmed);
  const run = observation.runs.find(({ stage }) => stage === decision.stage);
  return open(
    'ReadyToFinalize',
    `stage ${decision.stage} with ${run?.score_count ?? 0} scores is read back and may be finalized`,
  );
}

/** Whether a look is too old to open a gate by. */
export function isStale({ at }: Look, { pollSeconds }: Spec, now: number): boolean {
  return now - at > Math.max(freshFor_ms, missedLooks * pollSeconds * 1_000);
}

/** That too few blocks have followed the last tx with scores. */
function confirmationsNeeded({ txs, rollup_height }: Look, { finalize }: Spec, stage: bigint) {
  if (finalize.confirmations === 0) return undefined;
  const last = Math.max(0, ...(txs.get(stage) ?? []).map(({ height }) => height));
  const wanted = last + finalize.confirmations;
  if (rollup_height !== undefined && rollup_height >= wanted) return undefined;
  return `stage ${stage} is finalized once the rollup has block ${wanted}; it has ${rollup_height ?? 'not been read'}`;
}

const closed = (reason: Reason, message: string): Gate => ({ suspend: true, reason, message });
const open = (reason: Reason, message: string): Gate => ({ suspend: false, reason, message });
