import { setMaxListeners } from 'node:events';
import { messageOf } from '../../common/runtime/errors.js';
import { ContractError, type ContractFailure } from '../contract/errors.js';
import { ActError, finalizeStage, type Hands, scoreStage } from './act.js';
import { decide } from './decide.js';
import { catchUpWithFinalized } from './finalized.js';
import { type Eyes, observe } from './observe.js';
import type { Decision, Observation, Rules } from './types.js';

/** What a pass may do: the CronJobs of a cluster do one thing each. */
export interface Phases {
  readonly score: boolean;
  readonly finalize: boolean;
}

/** One look and what came of it. */
export interface Step {
  readonly observation: Observation;
  readonly decision: Decision;
  /** Why what was decided could not be done; undefined when it was, or when there was nothing to do. */
  readonly error: string | undefined;
}

/** Everything a stage machine consists of. */
export interface Machine extends Eyes, Omit<Hands, 'policy' | 'margin_s'> {
  readonly policy: Hands['policy'];
  readonly rules: () => Rules;
  readonly phases: Phases;
  /** Told of every step, also of those that failed. */
  readonly onStep?: ((step: Step) => void) | undefined;
}

/** The same decision so often in a row, though it was carried out each time, means that something undoes it. */
const mostRepeats = 3;

/**
 * Looks, decides and acts until there is nothing more to do for now. Every step begins with a new look, so it may be
 * killed anywhere and started again.
 *
 * @returns the last step: nothing, wait or alarm, or one that failed.
 * @throws what our own tables throw, and nothing else.
 */
export async function runPass(machine: Machine, signal?: AbortSignal): Promise<Step> {
  let [previous, repeats] = ['', 0];
  for (;;) {
    const rules = machine.rules();
    const observation = await observe(machine, signal);
    // What could not be read because of the signal is no reason for anything.
    if (signal?.aborted)
      return { observation, decision: { kind: 'nothing', reason: 'Stopping' }, error: undefined };
    await catchUpWithFinalized({ ...machine, margin_s: rules.margin_s }, observation, signal);
    let decision = limit(decide(observation, rules), machine.phases);
    const key = 'stage' in decision ? `${decision.kind} ${decision.stage}` : '';
    repeats = key === previous ? repeats + 1 : 0;
    previous = key;
    if (repeats >= mostRepeats)
      decision = {
        kind: 'alarm',
        reason: 'NoProgress',
        message: `${key} was done ${repeats} times and is undone again: who else writes to the contract?`,
      };
    await note(machine, decision);
    const { outcome, error, alarm } = await act(machine, rules, decision, signal);
    if (outcome === 'stopped')
      return { observation, decision: { kind: 'nothing', reason: 'Stopping' }, error: undefined };
    const step: Step = { observation, decision: alarm ?? decision, error };
    machine.onStep?.(step);
    if (error !== undefined || outcome === 'over' || signal?.aborted) return step;
  }
}

/** Leaves to other processes what is theirs. */
function limit(decision: Decision, phases: Phases): Decision {
  if (decision.kind === 'score' && !phases.score)
    return {
      kind: 'wait',
      reason: 'ScoreNeeded',
      message: `stage ${decision.stage} is to be scored first, which is not this process's work`,
    };
  if (decision.kind === 'finalize' && !phases.finalize)
    return {
      kind: 'wait',
      reason: 'FinalizeNeeded',
      message: `stage ${decision.stage} can be finalized, which is not this process's work`,
    };
  return decision;
}

async function act(
  machine: Machine,
  { margin_s }: Rules,
  decision: Decision,
  signal?: AbortSignal,
): Promise<{
  readonly outcome: 'again' | 'over' | 'stopped';
  readonly error: string | undefined;
  /** What a person has to judge before it can be done. */
  readonly alarm?: Decision;
}> {
  if (decision.kind !== 'score' && decision.kind !== 'finalize') return { outcome: 'over', error: undefined };
  const hands: Hands = { ...machine, margin_s };
  const { log } = machine;
  const stage = String(decision.stage);
  try {
    if (decision.kind === 'score') {
      const { from_height, to_height } = decision.window;
      log.info({ stage, from_height, to_height }, 'scoring a stage');
      await scoreStage(hands, decision, signal);
      log.info({ stage }, 'the stage is scored and read back');
      return { outcome: 'again', error: undefined };
    }
    const came = await finalizeStage(hands, decision.stage, decision.list_hash, signal);
    log.info({ stage, came }, 'finalizing a stage');
    return { outcome: came === 'not_closable' ? 'over' : 'again', error: undefined };
  } catch (error) {
    const message = messageOf(error);
    if (signal?.aborted) {
      log.info({ stage, kind: decision.kind }, `stopped in the middle, the next start goes on: ${message}`);
      return { outcome: 'stopped', error: undefined };
    }
    const reason = error instanceof ActError ? error.reason : undefined;
    if (reason === 'Overtaken') {
      log.warn({ stage, kind: decision.kind, reason }, message);
      return { outcome: 'again', error: undefined };
    }
    const failure = failureOf(error);
    log.error({ stage, kind: decision.kind, reason, failure }, message);
    await noteFailure(machine, decision.stage, message);
    const alarm = failure && alarms[failure];
    if (alarm !== undefined)
      return { outcome: 'over', error: undefined, alarm: { kind: 'alarm', reason: alarm, message } };
    return { outcome: 'over', error: message };
  }
}

/** Failures of sending that no other attempt heals: reasons of alarms. */
const alarms: Readonly<Partial<Record<ContractFailure, string>>> = {
  too_expensive: 'GasPriceTooHigh',
  no_account: 'NoAccount',
  wrong_tx: 'WrongTx',
};

/** What kind of failure of the contract, its node or the signer it was; undefined for any other. */
function failureOf(error: unknown): ContractFailure | undefined {
  const cause = error instanceof ActError ? error.cause : error;
  return cause instanceof ContractError ? cause.kind : undefined;
}

async function noteFailure({ store, clock }: Machine, stage: bigint, error: string): Promise<void> {
  const run = await store.run(stage);
  if (run !== undefined) await store.saveRun({ ...run, error, updated_at: clock.now() });
}

/** Keeps a decision when it is another one than the last that was kept. */
async function note({ store, clock }: Machine, decision: Decision): Promise<void> {
  const last = await store.lastDecision();
  const entry = describe(decision);
  const isSame =
    last !== undefined &&
    last.kind === entry.kind &&
    last.reason === entry.reason &&
    last.stage === entry.stage;
  if (!isSame) await store.logDecision({ at: clock.now(), ...entry });
}

/** A decision in words. */
export function describe(decision: Decision): {
  readonly kind: string;
  readonly reason: string;
  readonly message: string;
  readonly stage: bigint;
} {
  const { kind } = decision;
  if (kind === 'score') {
    const { stage, window } = decision;
    return {
      kind,
      reason: 'StageOver',
      message: `score stage ${stage} from blocks ${window.from_height} to ${window.to_height}`,
      stage,
    };
  }
  if (kind === 'finalize')
    return {
      kind,
      reason: 'ReadBack',
      message: `finalize stage ${decision.stage} with the list ${decision.list_hash}`,
      stage: decision.stage,
    };
  return { kind, reason: decision.reason, message: decision.message ?? '', stage: 0n };
}

/** How a machine is kept running. */
export interface LoopOptions {
  /** Between two looks while all is well, in milliseconds. */
  readonly poll_ms: number;
  /** Longest wait after failures in a row, in milliseconds. */
  readonly longest_ms: number;
  /** Told when our own tables failed. */
  readonly onFailure?: (message: string) => void;
}

/** Runs passes until the signal comes; waits longer after each failure in a row. */
export async function runLoop(machine: Machine, options: LoopOptions, signal: AbortSignal): Promise<void> {
  // Every request and every wait that is under way listens to it.
  setMaxListeners(0, signal);
  let failures = 0;
  while (!signal.aborted) {
    try {
      const step = await runPass(machine, signal);
      failures = step.error === undefined ? 0 : failures + 1;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      machine.log.error({ err: error }, `the tables cannot be used: ${messageOf(error)}`);
      options.onFailure?.(messageOf(error));
    }
    await machine.clock.sleep(pause(failures, options), signal);
  }
}

/** The wait before the next look: doubled by every failure in a row. */
export function pause(failures: number, { poll_ms, longest_ms }: LoopOptions): number {
  return Math.min(Math.max(poll_ms, longest_ms), poll_ms * 2 ** Math.min(16, failures));
}

/**
 * What a process that runs once ends with: 0 all is well, also while a stage waits for its end or for a person's word;
 * 1 a person has to repair something, 75 it may work later.
 */
export function exitCodeOf({ decision, error }: Pick<Step, 'decision' | 'error'>): 0 | 1 | 75 {
  if (error !== undefined) return 75;
  if (decision.kind === 'alarm') return 1;
  if (decision.kind !== 'wait') return 0;
  return needPerson.has(decision.reason) ? 1 : troubles.has(decision.reason) ? 75 : 0;
}

/** Waits that are for something to come back rather than for time or a person's word. */
const troubles = new Set([
  'L1Unreadable',
  'L1StandsStill',
  'L1Contradicts',
  'ContractUnreadable',
  'NodeBehind',
  'IndexerUnreadable',
  'ChainUnknown',
]);

/** Waits that never end by themselves. */
const needPerson = new Set(['WindowUnknown', 'IndexIncomplete']);
