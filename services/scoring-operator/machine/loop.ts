import { setMaxListeners } from 'node:events';
import { messageOf } from '../../common/errors.js';
import { type Machine, runPass, type Step } from './run.js';

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
