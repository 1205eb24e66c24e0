import { setMaxListeners } from 'node:events';
import { NodeError, retryDelay } from '../common/chain/endpoints.js';
import { messageOf } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import { largeBytes, oneLarge, weightOf } from '../common/util/material.js';
import { type Bell, createBell } from '../common/util/signal.js';
import { toNanoseconds, toUtc } from '../common/util/time.js';
import { Superseded } from '../common/writer/fence.js';
import type { WriterHealth } from '../common/writer/health.js';
import {
  cannotBeIndexed,
  type FetchedBlock,
  type FetchOptions,
  fetchBlock,
  isWrong,
  patientAttempts,
} from './fetch.js';
import { handleRollback, type RollbackOptions, tipIsElsewhere } from './rollback.js';
import type { HeaderRow, ShownHeader } from './store.js';

/*
 * The one writer of blocks. What holds at any moment:
 *
 * 1. Heights are fetched in parallel but written in order, without a gap.
 * 2. A block is written only when its parent hash is the hash of the block before it.
 * 3. No height beyond the tip that the node announced is asked for.
 */

export interface FollowOptions extends RollbackOptions, Pick<FetchOptions, 'decodedAttempts' | 'blockBound'> {
  /** Told why the next blocks cannot be indexed until somebody does something; '' once they can. */
  readonly onHindrance: (reason: string) => void;
  /** Heights that are fetched at once. */
  readonly concurrency: number;
  /** Where to begin on empty tables; 0 means with the first block that the node has. */
  readonly start_height: number;
  readonly health: WriterHealth;
  /** Rings when the tip may have moved. */
  readonly tipMoved: Bell;
}

/** When what is fetched is written: so many txs, bytes or blocks, or so long after the last time. */
interface Flush {
  readonly txs: number;
  readonly bytes: number;
  readonly blocks: number;
  readonly ms: number;
}

/** While nearly caught up. */
const smallFlush: Flush = { txs: 1_000, bytes: 4 * 1024 * 1024, blocks: 1_000, ms: 1_000 };

/**
 * Far behind the tip nobody waits for the newest block, and every insert is a dozen files
 * for the engine to make and soon to merge: a third of the inserts saves a tenth of the work.
 */
const largeFlush: Flush = { txs: 4_000, bytes: 8 * 1024 * 1024, blocks: 2_000, ms: 3_000 };

/** So many blocks behind the tip is far. */
const farBehind = 2_000;

/** Fetched blocks wait in memory up to this size, as `weightOf` counts. */
const bufferedBytes = 128 * 1024 * 1024;

/** Blocks that are fetched at once come to so many bytes, as far as those before them tell: then fewer are. */
const bytesUnderWay = 32 * 1024 * 1024;

/** How fast a large block is forgotten, as a factor for each block after it. */
const forgetting = 0.9;

/** What fails, as it is told. */
const writingBlocks = 'writing blocks';

/** Follows the chain until the signal. */
export async function follow(options: FollowOptions): Promise<void> {
  const { head, signal, log, metrics, health, mutex, store } = options;
  let halfWritten = false;
  let failures = 0;
  let hindrance = '';
  const tell = (reason: string): void => {
    if (reason !== hindrance) options.onHindrance(reason);
    hindrance = reason;
  };
  const onWritten = (): void => {
    health.succeeded(writingBlocks);
    failures = 0;
    tell('');
  };
  while (!signal.aborted) {
    try {
      if (halfWritten) await mutex(() => store.unwind(head.last?.height ?? 0));
      halfWritten = false;
      const from = head.last === undefined ? await firstHeight(options) : head.last.height + 1;
      if (!signal.aborted) await followFrom(from, options, onWritten);
      failures = 0;
    } catch (error) {
      // Who holds the fence has been told.
      if (signal.aborted || error instanceof Superseded) return;
      halfWritten = true;
      metrics.problems.inc({ service: 'block', kind: 'follow' });
      health.failed(writingBlocks, error);
      log.error(
        { err: error, height: head.last?.height },
        `following the chain failed, will be tried again: ${messageOf(error)}`,
      );
      await sleep(retryDelay(failures++), signal);
      if (isWrong(error) && failures >= patientAttempts)
        tell(cannotBeIndexed((head.last?.height ?? 0) + 1, messageOf(error)));
    }
  }
}

/** The height to begin with on empty tables, once the node has it. */
async function firstHeight({
  nodeRange,
  start_height,
  tipMoved,
  signal,
  log,
}: FollowOptions): Promise<number> {
  let said = false;
  while (!signal.aborted) {
    const rung = tipMoved.count;
    const { first, last } = nodeRange();
    const from = start_height === 0 ? first : start_height;
    if (last > 0 && from >= first) {
      if (start_height === 0 && first > 1)
        log.warn(
          { first },
          'the index begins here for good, because the node says that it has no block below: with another URL, or START_HEIGHT, and empty tables it can begin earlier',
        );
      return from;
    }
    if (last > 0 && !said) {
      log.error(
        { start_height, first },
        'START_HEIGHT lies before the first block of the node: give another URL, or begin later',
      );
      said = true;
    }
    await tipMoved.heard(rung, signal);
  }
  return 0;
}

/**
 * Follows from a height until a rollback was handled or the signal comes.
 *
 * @throws NodeError contradicts where a block does not fit, and the node has no other chain.
 */
async function followFrom(from: number, options: FollowOptions, onWritten: () => void): Promise<void> {
  const { head, node, signal, tipMoved, nodeRange } = options;
  const fetched = new Map<number, FetchedBlock>();
  const stop = new AbortController();
  const fetching = AbortSignal.any([signal, stop.signal]);
  setMaxListeners(0, fetching);
  const arrived = createBell();
  let [nextToFetch, nextToWrite] = [from, from];
  let [underWay, buffered, expected] = [0, 0, 0];
  let lastFlush = Date.now();
  /** By height: several blocks that are fetched at once may be too large, and the lowest stops the writer. */
  const hindrances = new Map<number, string>();
  const fetchOptions: FetchOptions = {
    ...options,
    onHindrance(height, reason) {
      if (reason === '') hindrances.delete(height);
      else hindrances.set(height, reason);
      options.onHindrance(hindrances.get(Math.min(...hindrances.keys())) ?? '');
    },
  };

  const fill = (): void => {
    while (
      underWay < options.concurrency &&
      buffered < bufferedBytes &&
      (underWay === 0 || (underWay + 1) * expected < bytesUnderWay) &&
      nextToFetch <= nodeRange().last
    ) {
      const height = nextToFetch++;
      underWay += 1;
      fetchBlock(fetchOptions, height, fetching)
        .then((block) => {
          fetched.set(height, block);
          const weight = weightOf(block.raw);
          buffered += weight;
          expected = Math.max(weight, expected * forgetting);
        })
        .catch((error: unknown) => {
          if (!fetching.aborted) options.log.error({ err: error, height }, messageOf(error));
        })
        .finally(() => {
          underWay -= 1;
          arrived.ring();
        });
    }
  };

  const tip = watchBell(tipMoved, arrived, signal);
  try {
    while (!signal.aborted) {
      const rung = arrived.count;
      fill();
      const flush = nodeRange().last - nextToWrite > farBehind ? largeFlush : smallFlush;
      const batch = ready(fetched, nextToWrite, flush);
      const caughtUp = batch.length > 0 && (batch.at(-1)?.raw.height ?? 0) >= nodeRange().last;
      if (batch.length > 0 && (caughtUp || isDue(batch, lastFlush, flush))) {
        const chained = linked(batch, head.last);
        if (chained.length > 0) {
          const isLarge = chained.some((block) => weightOf(block.raw) > largeBytes);
          await (isLarge ? oneLarge(() => write(chained, options)) : write(chained, options));
          onWritten();
          for (const block of chained) {
            fetched.delete(block.raw.height);
            buffered -= weightOf(block.raw);
          }
          nextToWrite += chained.length;
          lastFlush = Date.now();
        }
        const misfit = batch[chained.length]?.raw;
        if (misfit !== undefined) {
          if ((await handleRollback(options)) || signal.aborted) return;
          throw node.rpc.blame(
            new NodeError(
              'contradicts',
              `block ${misfit.height} names the parent ${misfit.parent_hash}, and block ${misfit.height - 1} is ${head.last?.hash}`,
            ),
          );
        }
        continue;
      }
      if ((await tipIsElsewhere(options)) && (await handleRollback(options))) return;
      const left = batch.length === 0 ? undefined : Math.max(1, lastFlush + flush.ms - Date.now());
      await arrived.heard(rung, signal, left);
    }
  } finally {
    stop.abort();
    tip.stop();
  }
}

/** Rings one bell whenever another rings. */
function watchBell(from: Bell, to: Bell, signal: AbortSignal): { stop(): void } {
  const controller = new AbortController();
  const both = AbortSignal.any([signal, controller.signal]);
  const loop = async (): Promise<void> => {
    while (!both.aborted) {
      await from.heard(from.count, both);
      to.ring();
    }
  };
  void loop();
  return { stop: () => controller.abort() };
}

/** The consecutive blocks that have arrived, as many as one flush takes. */
function ready(fetched: ReadonlyMap<number, FetchedBlock>, from: number, flush: Flush): FetchedBlock[] {
  const batch: FetchedBlock[] = [];
  let [txs, bytes] = [0, 0];
  for (let block = fetched.get(from); block !== undefined; block = fetched.get(from + batch.length)) {
    batch.push(block);
    txs += block.raw.tx_count;
    bytes += block.raw.material.length;
    if (txs >= flush.txs || bytes >= flush.bytes || batch.length >= flush.blocks) break;
  }
  return batch;
}

function isDue(batch: readonly FetchedBlock[], lastFlush: number, flush: Flush): boolean {
  const txs = batch.reduce((sum, block) => sum + block.raw.tx_count, 0);
  const bytes = batch.reduce((sum, block) => sum + block.raw.material.length, 0);
  return (
    txs >= flush.txs ||
    bytes >= flush.bytes ||
    batch.length >= flush.blocks ||
    Date.now() - lastFlush >= flush.ms
  );
}

/** The blocks of a batch up to the first whose parent is not the block before it. */
function linked(batch: readonly FetchedBlock[], last: HeaderRow | undefined): FetchedBlock[] {
  let parent = last?.hash;
  const broken = batch.findIndex((block) => {
    const fits = parent === undefined || block.raw.parent_hash === parent;
    parent = block.raw.hash;
    return !fits;
  });
  return broken === -1 ? [...batch] : batch.slice(0, broken);
}

async function write(
  batch: readonly FetchedBlock[],
  { store, head, metrics, mutex, nodeRange }: FollowOptions,
): Promise<void> {
  await mutex(async () => {
    let before = head.last;
    const rows = batch.map((block) => {
      const header = toHeader(block, before);
      before = header;
      return { header, material: block.raw.material };
    });
    await store.write(rows);
    head.append(
      batch.map((block) => block.raw),
      rows.map((row) => row.header),
    );
  });
  metrics.blocks.inc({ service: 'block' }, batch.length);
  metrics.txs.inc(
    { service: 'block' },
    batch.reduce((sum, block) => sum + block.raw.tx_count, 0),
  );
  const height = head.last?.height ?? 0;
  metrics.height.set({ service: 'block', track: 'head' }, height);
  metrics.lag.set({ service: 'block' }, Math.max(0, nodeRange().last - height));
}

/** The header of a block, given the one before it. */
export function toHeader(
  { raw, totals, receipt_count, proposer_address }: FetchedBlock,
  before: HeaderRow | undefined,
): ShownHeader {
  const time_ns = toNanoseconds(raw.timestamp);
  const elapsed = before === undefined ? 0n : (time_ns - BigInt(before.time_ns)) / 1_000_000n;
  return {
    height: raw.height,
    hash: raw.hash,
    parent_hash: raw.parent_hash,
    timestamp: toUtc(raw.timestamp),
    time_ns: String(time_ns),
    // A clock that was set back must not give a negative time.
    block_time: elapsed > 0n ? Number(elapsed) : 0,
    tx_count: raw.tx_count,
    receipt_count,
    gas_used: String(totals.gas_used),
    gas_wanted: String(totals.gas_wanted),
    total_fee: totals.total_fee,
    proposer_address,
    material_bytes: raw.material_bytes,
  };
}
