import { fetchCometBlock } from '../common/chain/comet.js';
import { sleep } from '../common/lifecycle.js';
import type { FollowOptions } from './follow.js';

/*
 * CometBFT is final; an operator who rolls the chain back is the exception. What was indexed
 * above the last common block is removed then, but only when the node says so several times.
 */

/** How often a rollback must be seen before anything is removed, and how long between looks. */
const confirmations = { count: 3, wait_ms: 300 };

/** Whether the node's tip lies below our head and is another block than ours there. */
export async function tipIsElsewhere({
  node,
  chain_id,
  store,
  head,
  nodeRange,
  signal,
}: FollowOptions): Promise<boolean> {
  const { last } = nodeRange();
  if (head.last === undefined || last === 0 || last >= head.last.height || last < head.first) return false;
  try {
    const [block, [ours]] = await Promise.all([
      fetchCometBlock(node.rpc, last, chain_id, signal),
      store.headers(last, last),
    ]);
    return ours !== undefined && ours.hash !== block.hash;
  } catch {
    return false; // asked again at the next word of the node
  }
}

/**
 * Looks whether the node has another chain than we have; if it says so several times,
 * unwinds to the last common block.
 *
 * @returns whether anything was unwound.
 */
export async function handleRollback(options: FollowOptions): Promise<boolean> {
  const { head, signal, log, metrics, store, mutex } = options;
  let common = -1;
  for (let look = 0; look < confirmations.count; look++) {
    if (look > 0) await sleep(confirmations.wait_ms, signal);
    const seen = await lastCommon(options);
    if (seen === undefined || signal.aborted || (look > 0 && seen !== common)) return false;
    common = seen;
  }
  const from = head.last?.height ?? 0;
  if (common >= from) return false;
  log.error({ from, to: common }, 'the chain was rolled back: unwinding to the last common block');
  metrics.rollbacks.inc({ service: 'block' });
  await mutex(async () => {
    await store.unwind(common);
    const trace_height = await store.traceHeight();
    head.reset(await store.range(), trace_height);
  });
  return true;
}

/** The highest height at which the node's block is ours; undefined when the node does not say. */
async function lastCommon({
  node,
  chain_id,
  store,
  head,
  nodeRange,
  signal,
}: FollowOptions): Promise<number | undefined> {
  if (head.last === undefined) return undefined;
  const same = async (height: number): Promise<boolean> => {
    const [block, [ours]] = await Promise.all([
      fetchCometBlock(node.rpc, height, chain_id, signal),
      store.headers(height, height),
    ]);
    return ours !== undefined && ours.hash === block.hash;
  };
  try {
    // Below the fork every block is common, above it none: halve.
    let [low, high] = [
      Math.max(head.first, nodeRange().first) - 1,
      Math.min(head.last.height, nodeRange().last),
    ];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (await same(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  } catch {
    return undefined;
  }
}
