import { status } from '@grpc/grpc-js';
import type { BlockServiceClient, RawBlock } from '../gen/indexer/block/v1/block.js';
import { callRpc, streamRpc } from '../rpc/client.js';
import { messageOf, RpcError } from '../runtime/errors.js';
import { sleep } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { largeBytes, oneLarge, weightOf } from '../util/material.js';
import { Superseded } from '../writer/fence.js';
import type { WriterHealth } from '../writer/health.js';

/*
 * The loop of every service that indexes blocks. What holds at any moment:
 *
 * 1. The cursor is the last block of which everything is written; it is written last.
 * 2. Nothing above the cursor is ever read by a query, and a start removes it.
 * 3. The block after the cursor has the cursor's hash as its parent, or the consumer unwinds.
 *
 * So a kill at any point, a lost connection and a rollback all end in the same state as
 * an undisturbed run.
 */

/** The last block that a consumer has written whole. */
export interface Cursor {
  readonly height: number;
  /** Upper-case hex. */
  readonly hash: string;
}

/** @throws Error unless the blocks are those right after a cursor, in order. */
export function checkFollows(
  cursor: Cursor,
  blocks: readonly (Cursor & { readonly parent_hash: string })[],
): void {
  let { height, hash } = cursor;
  for (const block of blocks) {
    const follows = height === 0 || (block.height === height + 1 && block.parent_hash === hash);
    if (!follows) throw new Error(`block ${block.height} does not follow block ${height}`);
    ({ height, hash } = block);
  }
}

/**
 * What a service does with blocks; `write` and `unwind` are each other's inverse. `Prepared` is
 * what it makes of one block.
 */
export interface Consumer<Prepared> {
  /** The service's name in logs and metrics. */
  readonly name: string;
  /** Removes what a crash left above the cursor and gives the cursor; undefined when nothing is written. */
  recover(): Promise<Cursor | undefined>;
  /** Decodes blocks; runs while those before are being written, so it must not look at the tables. */
  prepare(blocks: readonly RawBlock[]): Promise<readonly Prepared[]>;
  /** Writes prepared blocks, the cursor last. */
  write(prepared: readonly Prepared[]): Promise<void>;
  /** The blocks between two heights (inclusive) as this consumer has them. */
  hashes(from: number, to: number): Promise<readonly Cursor[]>;
  /** Removes everything above a height; 0 removes all. */
  unwind(height: number): Promise<void>;
}

export interface ConsumeOptions {
  readonly blocks: BlockServiceClient;
  readonly signal: AbortSignal;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: WriterHealth;
}

/** What fails, as it is told. */
const writingBlocks = 'writing blocks';

/** Waits between attempts, in milliseconds: grows by doubling, with jitter. */
const [shortestWait, longestWait] = [100, 10_000];

/** Follows the block service until the signal; heals by itself from everything but bugs. */
export async function consume<Prepared>(
  consumer: Consumer<Prepared>,
  options: ConsumeOptions,
): Promise<void> {
  const { signal, log, metrics, health } = options;
  let wait = shortestWait;
  while (!signal.aborted) {
    try {
      const cursor = await consumer.recover();
      log.info({ height: cursor?.height ?? 0 }, 'following the block service');
      await follow(consumer, cursor, options, () => {
        wait = shortestWait;
        health.succeeded(writingBlocks);
      });
    } catch (error) {
      // Who holds the fence has been told.
      if (signal.aborted || error instanceof Superseded) return;
      if (error instanceof RpcError && error.code === status.ABORTED) {
        if (await unwound(consumer, options)) continue;
      } else {
        metrics.problems.inc({ service: consumer.name, kind: 'consume' });
        health.failed(writingBlocks, error);
        log.warn({ err: error, retry_ms: wait }, `the stream of blocks broke: ${messageOf(error)}`);
      }
    }
    await sleep(wait * (0.5 + Math.random()), signal);
    wait = Math.min(longestWait, wait * 2);
  }
}

/** How much waits to be written at most: so many blocks, or bytes of material as `weightOf` counts. */
const [blocksWaiting, bytesWaiting] = [1_000, 32 * 1024 * 1024];

/** Prepared blocks that wait to be written. */
interface Waiting<Prepared> {
  readonly prepared: Prepared[];
  blocks: number;
  bytes: number;
  /** The last of them, and how far the block service was with it. */
  last: Cursor | undefined;
  head_height: number;
}

/**
 * Streams from the cursor on. Blocks are prepared while others are written, and what has come
 * until then is written together: the busier the tables are, the fewer and larger the inserts.
 */
async function follow<Prepared>(
  consumer: Consumer<Prepared>,
  cursor: Cursor | undefined,
  options: ConsumeOptions,
  onWritten: () => void,
): Promise<void> {
  const { blocks, signal } = options;
  const request = {
    from_height: cursor === undefined ? 0 : cursor.height + 1,
    parent_hash: cursor?.hash ?? '',
  };
  let waiting = nothingWaits<Prepared>();
  let writing: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  // A write that fails ends the stream: at the tip of a chain the next batch may be long in coming.
  const failed = new AbortController();
  const settings = { signal: AbortSignal.any([signal, failed.signal]) };

  const writeNext = (): void => {
    if (writing !== undefined || failure !== undefined || waiting.prepared.length === 0) return;
    const some = waiting;
    waiting = nothingWaits();
    writing = consumer.write(some.prepared).then(
      () => {
        writing = undefined;
        onWritten();
        tellWritten(consumer, options, some);
        writeNext();
      },
      (error: unknown) => {
        writing = undefined;
        failure = { error };
        failed.abort();
      },
    );
  };

  try {
    for await (const batch of streamRpc(blocks.streamBlocks.bind(blocks), request, settings)) {
      const last = batch.blocks.at(-1);
      if (last === undefined) continue;
      const bytes = batch.blocks.reduce((sum, block) => sum + weightOf(block), 0);
      const take = async (): Promise<void> => {
        const prepared = await consumer.prepare(batch.blocks);
        for (const item of prepared) waiting.prepared.push(item);
        waiting.blocks += batch.blocks.length;
        waiting.bytes += bytes;
        Object.assign(waiting, { last, head_height: batch.head_height });
        writeNext();
      };
      if (bytes <= largeBytes) {
        await take();
        while (writing !== undefined && isEnough(waiting)) await writing;
        continue;
      }
      // One that is large comes alone: it is read when nothing else is held, and is written before anything else is.
      while (writing !== undefined) await writing;
      await oneLarge(async () => {
        await take();
        while (writing !== undefined) await writing;
      });
    }
  } finally {
    if (signal.aborted) waiting = nothingWaits(); // the next start begins after what is written
    while (writing !== undefined) await writing;
    // biome-ignore lint/correctness/noUnsafeFinally: it is why the stream ended
    if (failure !== undefined) throw failure.error;
  }
}

const nothingWaits = <Prepared>(): Waiting<Prepared> => ({
  prepared: [],
  blocks: 0,
  bytes: 0,
  last: undefined,
  head_height: 0,
});

const isEnough = ({ blocks, bytes }: Waiting<unknown>): boolean =>
  blocks >= blocksWaiting || bytes >= bytesWaiting;

function tellWritten<Prepared>(
  { name: service }: Consumer<Prepared>,
  { metrics }: ConsumeOptions,
  { blocks, last, head_height }: Waiting<Prepared>,
): void {
  if (last === undefined) return;
  metrics.blocks.inc({ service }, blocks);
  metrics.height.set({ service, track: 'head' }, last.height);
  metrics.lag.set({ service }, Math.max(0, head_height - last.height));
}

/** How many blocks are compared at a time while the last common one is looked for. */
const comparedAtOnce = 100;

/** Unwinds after a rollback. @returns whether anything was removed; if not, going on at once would spin. */
async function unwound<Prepared>(consumer: Consumer<Prepared>, options: ConsumeOptions): Promise<boolean> {
  try {
    return await unwindToCommon(consumer, options);
  } catch (failure) {
    options.metrics.problems.inc({ service: consumer.name, kind: 'unwind' });
    options.health.failed(writingBlocks, failure);
    options.log.warn({ err: failure }, `unwinding failed, will be tried again: ${messageOf(failure)}`);
    return false;
  }
}

async function unwindToCommon<Prepared>(
  consumer: Consumer<Prepared>,
  options: ConsumeOptions,
): Promise<boolean> {
  const { log, metrics } = options;
  const cursor = await consumer.recover();
  if (cursor === undefined) return false;
  const common = await lastCommon(consumer, options, cursor.height);
  if (common >= cursor.height) return false;
  log.error(
    { from: cursor.height, to: common },
    'the chain was rolled back: unwinding to the last common block',
  );
  await consumer.unwind(common);
  metrics.rollbacks.inc({ service: consumer.name });
  return true;
}

async function lastCommon<Prepared>(
  consumer: Consumer<Prepared>,
  { blocks, signal }: ConsumeOptions,
  height: number,
): Promise<number> {
  for (let to = height; to > 0; to -= comparedAtOnce) {
    const from_height = Math.max(1, to - comparedAtOnce + 1);
    const [ours, theirs] = await Promise.all([
      consumer.hashes(from_height, to),
      callRpc(blocks.listBlockHashes.bind(blocks), { from_height, to_height: to }, { signal }),
    ]);
    const hashes = new Map(theirs.blocks.map((block) => [block.height, block.hash]));
    const common = ours
      .filter((block) => hashes.get(block.height) === block.hash)
      .map((block) => block.height);
    if (common.length > 0) return Math.max(...common);
    if (ours.length === 0) return 0;
  }
  return 0;
}
