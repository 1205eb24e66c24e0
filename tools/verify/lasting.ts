import { sleep } from '../../services/common/runtime/lifecycle.js';
import type { Difference } from './check.js';

/** Looks at something that differs, and the pause between them in milliseconds. */
const [looks, pause_ms] = [4, 1_000];

/**
 * Differences that last: state moves while it is compared, so what differs is looked at again,
 * on both sides.
 *
 * @param compare is told which attempt it is, from 0.
 */
export async function lasting(
  signal: AbortSignal,
  compare: (attempt: number) => Promise<readonly Difference[]>,
): Promise<readonly Difference[]> {
  let differences: readonly Difference[] = [];
  for (let attempt = 0; attempt < looks && !signal.aborted; attempt++) {
    if (attempt > 0) await sleep(pause_ms, signal);
    differences = await compare(attempt);
    if (differences.length === 0) return [];
  }
  return differences;
}
