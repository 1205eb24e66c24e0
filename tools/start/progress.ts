import type { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import type { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { callRpc } from '../../services/common/rpc/client.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { duration, group, type Screen } from '../terminal.js';

/** Heights of a moment. */
interface Sample {
  readonly at: number;
  readonly height: number;
  readonly target: number;
}

/** Catching up is over once this close to the tip. */
const closeEnough = 1;

const look_ms = 500;

/** Without a terminal a line is printed this often. */
const plainEvery_ms = 5_000;

/** The rate is taken over this many looks. */
const looksKept = 20;

/**
 * Shows how the indexer catches up (blocks/s, time left) until it has, and again whenever it
 * falls behind.
 */
export async function showProgress(
  screen: Screen,
  block: BlockServiceClient,
  tx: TxServiceClient,
  signal: AbortSignal,
): Promise<void> {
  let samples: Sample[] = [];
  let printedAt = 0;
  let behind = true;
  while (!signal.aborted) {
    const sample = await look(block, tx).catch(() => undefined);
    if (sample !== undefined && sample.target > 0) {
      samples = [...samples, sample].slice(-looksKept);
      const done = sample.target - sample.height <= closeEnough;
      if (done && behind) {
        screen.write(`${screen.isTTY ? '\r\x1b[K' : ''}caught up at block ${group(sample.height)}\n`);
      } else if (!done && sample.target - sample.height > 20) {
        if (screen.isTTY) screen.write(`\r\x1b[K${progressLine(samples)}`);
        else if (sample.at - printedAt >= plainEvery_ms) {
          screen.write(`${progressLine(samples)}\n`);
          printedAt = sample.at;
        }
      }
      behind = done ? false : behind || sample.target - sample.height > 20;
    }
    await sleep(look_ms, signal);
  }
}

async function look(block: BlockServiceClient, tx: TxServiceClient): Promise<Sample> {
  const deadline = Date.now() + 5_000;
  const [blocks, txs] = await Promise.all([
    callRpc(block.getStatus.bind(block), {}, { deadline }),
    callRpc(tx.getStatus.bind(tx), {}, { deadline }),
  ]);
  return { at: Date.now(), height: Math.min(blocks.height, txs.height), target: blocks.node_height };
}

/** `indexing 1,234 of 20,000 blocks, 312 blocks/s, 1m 02s left` */
export function progressLine(samples: readonly Sample[]): string {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return '';
  const seconds = (last.at - first.at) / 1000;
  const rate = seconds > 0 ? (last.height - first.height) / seconds : 0;
  const left = rate > 0 ? `, ${duration((last.target - last.height) / rate)} left` : '';
  return `indexing ${group(last.height)} of ${group(last.target)} blocks, ${rate.toFixed(rate < 10 ? 1 : 0)} blocks/s${left}`;
}
