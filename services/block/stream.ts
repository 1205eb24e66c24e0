import { status } from '@grpc/grpc-js';
import type { RawBlock, RawTrace, StreamBlocksRequest } from '../common/gen/indexer/block/v1/block.js';
import { RpcError } from '../common/runtime/errors.js';
import { atMost, chunks } from '../common/util/chunk.js';
import { largeBytes, weightOf } from '../common/util/material.js';
import type { Head } from './head.js';
import type { BlockStore } from './store.js';

/** What a message holds at most, as `weightOf` counts, unless a single block is larger. */
const atOnce: Most = { bytes: largeBytes, count: 400 };

/** What a message says of a block besides its material, in bytes. */
const framing = 300;

const sizeOf = (raw: RawBlock | RawTrace): number => weightOf(raw) + framing;

/** How long a block may be on its way into the tables, or out of them, before it counts as missing. */
const missing_ms = 1_000;

const rolledBack = (height: number): RpcError =>
  new RpcError(
    status.ABORTED,
    `block ${height} is not the one that the consumer has: the chain was rolled back`,
  );

const beginsLater = (first: number, next: number): RpcError =>
  new RpcError(
    status.FAILED_PRECONDITION,
    `block ${next} is next for the consumer, but the blocks begin with ${first}: index them from ${next} on, or empty the tables of the consumer`,
  );

/**
 * Yields batches of blocks from a height on, for ever: what memory does not hold from the
 * tables, then what is new as it comes. Nothing is queued for a slow consumer, it is read
 * when it asks.
 *
 * @throws RpcError ABORTED when the chain is not the consumer's any more; FAILED_PRECONDITION
 *   when blocks between the consumer's last and the first one here are not to be had.
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
    if (next < first) throw beginsLater(first, next);
    if (parent !== '' && checked !== head.revision) {
      const { revision } = head;
      await checkParent(store, head, next - 1, parent);
      checked = revision;
    }
    if (next > last.height) {
      await head.bell.heard(rung, signal);
      continue;
    }
    const found = head.tail(next) ?? (await store.raws(next, last.height, atOnce));
    if (found[0]?.height !== next) {
      // Unwound meanwhile: the head says so in a moment.
      await head.bell.heard(rung, signal, missing_ms);
      if (head.bell.count === rung && !signal.aborted)
        throw new Error(`block ${next} is not in the tables, though ${last.height} is the last one`);
      continue;
    }
    if (parent !== '' && found[0].parent_hash !== parent) throw rolledBack(next - 1);
    const blocks = portion(found, sizeOf, atOnce);
    yield [...blocks];
    const sent = blocks[blocks.length - 1] as RawBlock;
    next = sent.height + 1;
    parent = sent.hash;
  }
}

async function checkParent(store: BlockStore, head: Head, height: number, hash: string): Promise<void> {
  const last = head.last;
  if (last === undefined) return;
  if (height > last.height) throw rolledBack(height);
  if (height === last.height) {
    if (last.hash !== hash) throw rolledBack(height);
    return;
  }
  const block = head.tail(height)?.[0] ?? (await store.headers(height, height))[0];
  if (block !== undefined && block.hash !== hash) throw rolledBack(height);
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
    const { trace_height } = head;
    const found =
      trace_height === 0 || next > trace_height
        ? []
        : (head.traceTail(next) ?? (await store.traces(next, trace_height, atOnce)));
    const traces = portion(found, sizeOf, atOnce);
    const last = traces.at(-1);
    if (last === undefined) {
      await head.bell.heard(rung, signal);
      continue;
    }
    yield [...traces];
    next = last.height + 1;
  }
}

/** How much is taken at once. */
export interface Most {
  readonly count: number;
  readonly bytes: number;
}

/** The longest beginning of a list that stays within a count and a size; at least one item, however large. */
export const portion = <T>(items: readonly T[], sizeOf: (item: T) => number, most: Most): readonly T[] =>
  chunks(items, { most: most.bytes, of: sizeOf }, atMost(most.count)).next().value ?? [];
