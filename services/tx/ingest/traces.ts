import { status } from '@grpc/grpc-js';
import type { TablesOptions } from '../../common/consumer/service.js';
import type { RawTrace } from '../../common/gen/indexer/block/v1/block.js';
import { streamRpc } from '../../common/rpc/client.js';
import { messageOf, RpcError } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { createSlices } from '../../common/util/concurrency.js';
import { decompress } from '../../common/util/gzip.js';
import { largeBytes, oneLarge, weightOf } from '../../common/util/material.js';
import { decodeTraces } from '../decode/traces.js';
import type { DecodedFrame } from '../decode/types.js';
import type { Head } from '../store/cursor.js';
import type { DecodedTrace } from '../store/rows.js';
import type { TxStore } from '../store/store.js';

export interface TraceTrackOptions
  extends Pick<TablesOptions<unknown>, 'blocks' | 'log' | 'metrics' | 'health'> {
  /** The name in logs and metrics. */
  readonly name: () => string;
  readonly store: TxStore;
  readonly head: Head;
  readonly signal: AbortSignal;
}

/** What fails, as it is told. */
const writingTraces = 'writing internal txs';

/** Waits between attempts, in milliseconds: grows by doubling, with jitter. */
const [shortestWait, longestWait] = [100, 10_000];

/**
 * Writes internal txs as their traces come, a track of its own behind the blocks: those of
 * a height are written once its txs are. Ends when the rollup is not traced; heals from
 * everything else.
 */
export async function followTraces(options: TraceTrackOptions): Promise<void> {
  const { name, signal, log, metrics, health } = options;
  let wait = shortestWait;
  while (!signal.aborted) {
    try {
      await followOnce(options, () => {
        wait = shortestWait;
        health.succeeded(writingTraces);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RpcError && error.code === status.UNIMPLEMENTED) {
        log.info('this rollup is not traced: there are no internal txs');
        return;
      }
      metrics.problems.inc({ service: name(), kind: 'traces' });
      health.failed(writingTraces, error);
      log.warn({ err: error, retry_ms: wait }, `the stream of traces broke: ${messageOf(error)}`);
    }
    await sleep(wait * (0.5 + Math.random()), signal);
    wait = Math.min(longestWait, wait * 2);
  }
}

/** Follows from the cursor on, until the stream ends or the blocks are unwound under it. */
async function followOnce(options: TraceTrackOptions, onWritten: () => void): Promise<void> {
  const { name, blocks, store, head, metrics, signal } = options;
  const { internal_height } = await store.recover();
  const session = new AbortController();
  const ended = AbortSignal.any([signal, session.signal]);
  const watching = endOnRollback(head, session, ended);
  try {
    const request = { from_height: internal_height === 0 ? 0 : internal_height + 1 };
    for await (const { traces } of streamRpc(blocks.streamTraces.bind(blocks), request, { signal: ended })) {
      const last = traces.at(-1);
      if (last === undefined) continue;
      // Not before: what is large must not be held by who waits for something else.
      await reached(head, last.height, ended);
      if (ended.aborted) return;
      const write = async (): Promise<void> => store.writeTraces(await decodeAll(traces, options));
      const isLarge = traces.reduce((sum, trace) => sum + weightOf(trace), 0) > largeBytes;
      await (isLarge ? oneLarge(write) : write());
      onWritten();
      metrics.height.set({ service: name(), track: 'traces' }, last.height);
    }
  } finally {
    session.abort();
    await watching;
  }
}

/** Ends a session when the blocks were unwound: its place in the stream is void then. */
async function endOnRollback(head: Head, session: AbortController, ended: AbortSignal): Promise<void> {
  const { revision } = head;
  while (!ended.aborted && head.revision === revision) await head.bell.heard(head.bell.count, ended);
  session.abort();
}

/** Resolves when the txs of a height are written. */
async function reached(head: Head, height: number, ended: AbortSignal): Promise<void> {
  while (!ended.aborted && head.position.height < height) await head.bell.heard(head.bell.count, ended);
}

async function decodeAll(traces: readonly RawTrace[], options: TraceTrackOptions): Promise<DecodedTrace[]> {
  const decoded: DecodedTrace[] = [];
  const slice = createSlices();
  for (const trace of traces) {
    decoded.push(await decodeTrace(trace, options));
    await slice();
  }
  return decoded;
}

async function decodeTrace(
  trace: RawTrace,
  { name, log, metrics }: TraceTrackOptions,
): Promise<DecodedTrace> {
  const { height, block_hash: hash } = trace;
  let frames: Iterable<DecodedFrame> = [];
  let length = 0;
  try {
    if (trace.material.length > 0) {
      // As a text at once: the bytes are not held while it is read.
      const text = (await decompress(trace.material)).toString('utf8');
      frames = decodeTraces(height, text);
      length = text.length;
    }
  } catch (error) {
    metrics.problems.inc({ service: name(), kind: 'decode' });
    log.warn({ height, err: error }, `a trace could not be read: ${messageOf(error)}`);
  }
  return { height, hash, length, frames };
}
