import { fetchCometBlock } from '../common/chain/comet.js';
import { TryAgainError } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Metrics } from '../common/runtime/metrics.js';
import type { Mutex } from '../common/util/concurrency.js';
import type { Node } from './fetch.js';
import type { Head } from './head.js';
import type { BlockStore } from './store.js';

/*
 * CometBFT is final; an operator who rolls the chain back is the exception. What was indexed
 * above the last common block is removed then, but only when the node says so several times.
 */

export interface RollbackOptions {
  readonly node: Node;
  readonly chain_id: string;
  readonly store: BlockStore;
  readonly head: Head;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Guards everything that writes to the tables. */
  readonly mutex: Mutex;
  /** The tip and the first height of the node, as last heard. */
  readonly nodeRange: () => { readonly first: number; readonly last: number };
}

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
}: RollbackOptions): Promise<boolean> {
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
 * @throws Error when the last common block lies below what the node still has: then nobody
 *   can tell how much to remove, and nothing is.
 */
export async function handleRollback(options: RollbackOptions): Promise<boolean> {
  const { head, signal, log, metrics, store, mutex, nodeRange } = options;
  let common: number | 'out of sight' = 'out of sight';
  for (let look = 0; look < confirmations.count; look++) {
    if (look > 0) await sleep(confirmations.wait_ms, signal);
    const seen = await lastCommon(options);
    if (seen === undefined || signal.aborted || (look > 0 && seen !== common)) return false;
    common = seen;
  }
  const from = head.last?.height ?? 0;
  if (common === 'out of sight') {
    metrics.problems.inc({ service: 'block', kind: 'fork_below_node' });
    throw new TryAgainError(
      `the chain was rolled back to below block ${nodeRange().first}, the first that the node has: give a URL of a node with a longer past, or begin anew on empty tables`,
    );
  }
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

/**
 * The highest height at which the node's block is ours, or that it lies below what the node
 * has; undefined when the node does not say.
 */
async function lastCommon({
  node,
  chain_id,
  store,
  head,
  nodeRange,
  signal,
}: RollbackOptions): Promise<number | 'out of sight' | undefined> {
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
    const range = nodeRange();
    const lowest = Math.max(head.first, range.first);
    if (range.last < lowest) return undefined;
    let [low, high] = [lowest - 1, Math.min(head.last.height, range.last)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (await same(middle)) low = middle;
      else high = middle - 1;
    }
    if (low >= lowest || lowest === head.first) return low;
    // No block that both have is common. The node's first one still names its parent.
    const [first, [ours]] = await Promise.all([
      fetchCometBlock(node.rpc, lowest, chain_id, signal),
      store.headers(low, low),
    ]);
    return ours?.hash === first.parent_hash ? low : 'out of sight';
  } catch {
    return undefined;
  }
}
