import { gzipSync } from 'node:zlib';
import { isTooLarge, type SendBatched, sendAlone, smallFirst } from '../common/chain/batch.js';
import { type AnswerBound, type Endpoints, NodeError, retryDelay } from '../common/chain/endpoints.js';
import { fetchEvmHeight, fetchTraces, methodNotFound } from '../common/chain/evm.js';
import { messageOf } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Metrics } from '../common/runtime/metrics.js';
import { inParallel, type Mutex } from '../common/util/concurrency.js';
import { compress } from '../common/util/gzip.js';
import { largeBytes, oneLarge, weightOf } from '../common/util/material.js';
import type { WriterHealth } from '../common/writer/health.js';
import type { Head } from './head.js';
import type { BlockStore, HeaderRow, TraceRow } from './store.js';

/** An empty list, compressed. */
const nothing = gzipSync('[]');

/*
 * The second track: call traces. It follows the blocks, never overtakes them, and never
 * holds them up: tracing is slow, may lag, and may be switched off on the node.
 */

export interface TraceOptions {
  readonly jsonrpc: Endpoints;
  /** A way to ask for several heights at once. */
  readonly batch: SendBatched;
  /** How large the traces of a block may be. */
  readonly blockBound: AnswerBound;
  readonly store: BlockStore;
  readonly head: Head;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  readonly mutex: Mutex;
  /** Blocks that are traced at once. */
  readonly concurrency: number;
  /** How often the node may fail to trace a block, though it answers, before that block is given up. */
  readonly attempts: number;
}

/** How many blocks are written together while catching up: fewer once their traces have so many bytes uncompressed. */
const [blocksAtOnce, bytesAtOnce] = [300, 64 * 1024 * 1024];

/** What answers are read up to while several blocks are traced: nearly all are smaller. */
const smallAnswer: AnswerBound = { bytes: 2 * 1024 * 1024 };

/** A node without tracing is asked again after this time. */
const offPause_ms = 10 * 60_000;

/** The node has no tracing at all. */
class TracingOff extends Error {
  override name = 'TracingOff';
}

/** What fails, as it is told. */
const writingTraces = 'writing traces';

/** Follows the blocks with their traces until the signal. */
export async function followTraces(options: TraceOptions): Promise<void> {
  const { head, log, signal, metrics, health } = options;
  let failures = 0;
  // What failed may be written all the same.
  let isDoubtful = false;
  while (!signal.aborted) {
    try {
      await traceNext(options, isDoubtful);
      failures = 0;
      isDoubtful = false;
      health.succeeded(writingTraces);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof TracingOff) {
        log.warn(`the node does not trace, internal txs are off: ${error.message}`);
        await sleep(offPause_ms, signal);
        continue;
      }
      isDoubtful = true;
      metrics.problems.inc({ service: 'block', kind: 'traces' });
      health.failed(writingTraces, error);
      log.error(
        { err: error, height: head.trace_height },
        `tracing failed, will be tried again: ${messageOf(error)}`,
      );
      await sleep(retryDelay(failures++), signal);
    }
  }
}

/** Traces the next blocks, or waits until there are any. @param isDoubtful whether some of them may be written already. */
async function traceNext(options: TraceOptions, isDoubtful: boolean): Promise<void> {
  const { head, store, signal, mutex, metrics } = options;
  const rung = head.bell.count;
  const next = head.trace_height === 0 ? head.first : head.trace_height + 1;
  if (head.last === undefined || next > head.last.height) return head.bell.heard(rung, signal);
  const { revision } = head;
  const to = Math.min(head.last.height, next + blocksAtOnce - 1);
  const headers = head.headers(next, to) ?? (await store.headers(next, to));
  const unwound = (): boolean => head.revision !== revision;
  let bytes = 0;
  const trace = async (header: HeaderRow): Promise<TraceRow | undefined> => {
    const row = await traceBlock(options, header, unwound);
    bytes += row === undefined ? 0 : weightOf(row.trace);
    return row;
  };
  const traced = await inParallel(headers, options.concurrency, trace, () => bytes >= bytesAtOnce);
  const rows = traced.filter((row) => row !== undefined);
  if (rows.length === 0 || rows.length < traced.length || signal.aborted) return;
  const write = () =>
    mutex(async () => {
      if (unwound()) return;
      const written = isDoubtful ? await store.tracedHeights(next, to) : undefined;
      await store.writeTraces(rows.filter(({ trace }) => !written?.has(trace.height)));
      const height = rows.at(-1)?.trace.height ?? 0;
      head.appendTraces(rows.map((row) => row.trace));
      metrics.height.set({ service: 'block', track: 'traces' }, height);
    });
  const isLarge = rows.some((row) => weightOf(row.trace) > largeBytes);
  await (isLarge ? oneLarge(write) : write());
}

/** The traces of a block, once they are there; undefined when the block was unwound meanwhile. */
async function traceBlock(
  options: TraceOptions,
  header: HeaderRow,
  unwound: () => boolean,
): Promise<TraceRow | undefined> {
  const { height, hash: block_hash } = header;
  const row = (state: TraceRow['state'], material: Buffer, material_bytes: number): TraceRow => ({
    trace: { height, block_hash, material, material_bytes },
    state,
  });
  const none = (state: TraceRow['state']): TraceRow => row(state, nothing, 2);
  if (header.receipt_count === 0) return none('none');
  const fetched = async (small?: AnswerBound): Promise<TraceRow> => {
    const { jsonrpc, signal, batch, blockBound } = options;
    const isFirst = small !== undefined;
    const [send, bound] = [isFirst ? batch : sendAlone, small ?? blockBound];
    const { text, count } = await fetchTraces(jsonrpc, height, signal, send, bound);
    if (count !== header.receipt_count)
      throw jsonrpc.blame(
        new NodeError('incomplete', `block ${height}: ${header.receipt_count} receipts but ${count} traces`),
      );
    const bytes = Buffer.from(text);
    return row('traced', await compress(bytes), bytes.length);
  };
  let [refusals, tooLarge] = [0, 0];
  for (let attempt = 0; !unwound(); attempt++) {
    try {
      return await smallFirst(smallAnswer, oneLarge, fetched);
    } catch (error) {
      if (options.signal.aborted) throw error;
      const said = error instanceof NodeError ? error.answer : undefined;
      if (/genesis is not traceable/i.test(said?.message ?? '')) return none('none');
      if (said !== undefined && isOff(said)) throw new TracingOff(said.message);
      if (await isRefusal(error, height, options)) refusals += 1;
      // Each URL is asked; what one of them sends too much of, the others may not.
      if (isTooLarge(error)) tooLarge += 1;
      if (refusals >= options.attempts || tooLarge >= options.jsonrpc.urls.length) {
        options.metrics.problems.inc({ service: 'block', kind: 'trace_unavailable' });
        options.log.error(
          { height, err: error },
          `the node cannot trace block ${height}, which stays without internal txs: ${messageOf(error)}`,
        );
        return none('unavailable');
      }
      await sleep(retryDelay(attempt), options.signal);
    }
  }
  return undefined;
}

function isOff({ code, message }: { readonly code?: number | undefined; readonly message: string }): boolean {
  return (
    code === methodNotFound ||
    /method .*(does not exist|not found|not available|not supported|disabled)/i.test(message)
  );
}

/** Whether the node is well and past the block, and yet does not trace it. */
async function isRefusal(
  error: unknown,
  height: number,
  { jsonrpc, signal }: TraceOptions,
): Promise<boolean> {
  if (!(error instanceof NodeError) || !['error_answer', 'timeout', 'incomplete'].includes(error.reason))
    return false;
  try {
    return (await fetchEvmHeight(jsonrpc, signal)) >= height;
  } catch {
    return false;
  }
}
