import { type Clock, createClock } from '../measure/clock.js';
import type { ScoreWindow } from '../result.js';
import { ask, type FactClients } from './clients.js';

const nanosecondsPerSecond = 1_000_000_000n;

/** Heights that are asked for at once. */
const timesAtOnce = 10_000;

/** Reads when the blocks of a window were made: 8 bytes for each. @throws RpcError */
export async function readClock(
  { block }: FactClients,
  { from_height, to_height, start_time, end_time }: ScoreWindow,
  signal: AbortSignal,
): Promise<Clock> {
  const times = new BigInt64Array(Math.max(0, to_height - from_height + 1));
  for (let from = from_height; from <= to_height; from += timesAtOnce) {
    const request = { from_height: from, to_height: Math.min(to_height, from + timesAtOnce - 1) };
    const { blocks } = await ask(block.listBlockTimes.bind(block), request, signal);
    for (const { height, seconds, nanos } of blocks)
      times[height - from_height] = BigInt(seconds) * nanosecondsPerSecond + BigInt(nanos);
  }
  const [start, end] = [BigInt(start_time), BigInt(end_time)].map((time) => time * nanosecondsPerSecond);
  return createClock(start as bigint, end as bigint, from_height, times);
}
