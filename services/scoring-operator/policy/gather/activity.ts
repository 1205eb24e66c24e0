import { status } from '@grpc/grpc-js';
import { RpcError } from '../../../common/runtime/errors.js';
import { sleep } from '../../../common/runtime/lifecycle.js';
import { type ActivityRule, activityTally } from '../measure.js';
import type { Measure } from '../policy.js';
import type { ScoreWindow } from '../result.js';
import { type FactClients, isPassing, readStream } from './clients.js';

/** How often a stream that breaks is taken up again without having brought anything. */
const mostBreaks = 5;

/**
 * Measures every rule that looks at transactions in one reading of the window. A stream that
 * breaks is taken up where it broke.
 *
 * @param wait_ms how long to wait before that, in milliseconds; twice as long after each break.
 * @throws RpcError ABORTED when the chain is rolled back meanwhile.
 */
export async function gatherActivity(
  rules: readonly ActivityRule[],
  { from_height, to_height }: ScoreWindow,
  { tx }: FactClients,
  signal: AbortSignal,
  wait_ms: number,
): Promise<Map<string, Measure>> {
  const tallies = rules.map((rule) => ({ rule, tally: activityTally(rule) }));
  let breaks = 0;
  for (let next = from_height; next <= to_height; ) {
    try {
      const request = { from_height: next, to_height };
      for await (const { txs, through_height } of readStream(tx.streamActivity.bind(tx), request, signal)) {
        for (const activity of txs) for (const { tally } of tallies) tally.add(activity);
        next = through_height + 1;
        breaks = 0;
      }
      if (next <= to_height) throw new RpcError(status.UNAVAILABLE, `the txs end with block ${next - 1}`);
    } catch (error) {
      const isBroken = isPassing(error) && (error as RpcError).code !== status.ABORTED;
      breaks += 1;
      if (!isBroken || breaks > mostBreaks) throw error;
      await sleep(wait_ms * 2 ** (breaks - 1), signal);
      signal.throwIfAborted();
    }
  }
  return new Map(tallies.map(({ rule, tally }) => [rule.name, tally.measure()]));
}
