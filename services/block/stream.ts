import { status } from '@grpc/grpc-js';
import { RpcError } from '../common/errors.js';
import type { RawBlock, RawTrace, StreamBlocksRequest } from '../common/gen/indexer/block/v1/block.js';
import type { Head } from './head.js';
import type { BlockStore } from './store.js';

/** A message holds at most this much material, and at most so many blocks. */
const [bytesAtOnce, blocksAtOnce] = [4 * 1024 * 1024, 400];

/** Traces of so many blocks are read at once. */
const tracesAtOnce = 300;

const rolledBack = (height: number): RpcError =>
  new RpcError(
    status.ABORTED,
    `block ${height} is not the one that the consumer has: the chain was rolled back`,
  );

/**
 * Yields batches of blocks from a height on, for ever: what memory does not hold from the
 * tables, then what is new as it comes. Nothing is queued for a slow consumer, it is read
 * when it asks.
 *
 * @throws RpcError ABORTED when the chain is not the consumer's any more.
 */
export async function* streamBlocks(
  store: BlockStore,
  head: Head,
  request: Pick<StreamBlocksRequest, 'from_height' | 'parent_hash'>,
  signal: AbortSignal,
): AsyncGenerator<RawBlock[], void, undefined> {
  let next = request.from_height;
  let parent = request.parent_hash;
  let checked = 0;
  while (!signal.aborted) {
    const rung = head.bell.count;
    const { first, last } = head;
    if (last === undefined) {
      // A chain that is gone altogether may begin anew below what the consumer has.
      await head.bell.heard(rung, signal);
      continue;
    }
    if (next === 0 || (next < first && parent === '')) next = first;
    if (parent !== '' && checked !== head.revision) {
      const { revision } = head;
      await checkParent(store, head, next - 1, parent);
      checked = revision;
    }
    if (next > last.height) {
      await head.bell.heard(rung, signal);
      continue;
    }
    const blocks = cut(head.tail(next) ?? (await store.raws(next, last.height, blocksAtOnce)));
    if (blocks.length === 0 || blocks[0]?.height !== next) continue; // unwound meanwhile: look again
    if (parent !== '' && blocks[0].parent_hash !== parent) throw rolledBack(next - 1);
    yield blocks;
    const sent = blocks[blocks.length - 1] as RawBlock;
    next = sent.height + 1;
    parent = sent.hash;
  }
}

async function checkParent(store: BlockStore, head: Head, height: number, hash: string): Promise<void> {
  const last = head.last;
  if (last === undefined || height < head.first - 1) return;
  if (height > last.height) throw rolledBack(height);
  if (height === last.height) {
    if (last.hash !== hash) throw rolledBack(height);
    return;
  }
  const block = head.tail(height)?.[0] ?? (await store.headers(height, height))[0];
  if (block !== undefined && block.hash !== hash) throw rolledBack(height);
}

/** The longest beginning that fits into a message; at least one block. */
function cut(blocks: readonly RawBlock[]): RawBlock[] {
  let bytes = 0;
  let count = 0;
  for (const block of blocks) {
    bytes += block.material.length + 300;
    if (count > 0 && (bytes > bytesAtOnce || count >= blocksAtOnce)) break;
    count++;
  }
  return blocks.slice(0, count);
}

/** Yields batches of traces from a height on, for ever, each of a block that is still in the chain. */
export async function* streamTraces(
  store: BlockStore,
  head: Head,
  from_height: number,
  signal: AbortSignal,
): AsyncGenerator<RawTrace[], void, undefined> {
  let next = from_height;
  let revision = head.revision;
  while (!signal.aborted) {
    const rung = head.bell.count;
    if (head.revision !== revision && head.trace_height < next - 1) throw rolledBack(next - 1);
    revision = head.revision;
    const traces =
      head.trace_height === 0 || next > head.trace_height ? [] : await store.traces(next, tracesAtOnce);
    const last = traces.at(-1);
    if (last === undefined) {
      await head.bell.heard(rung, signal);
      continue;
    }
    yield traces;
    next = last.height + 1;
  }
}
