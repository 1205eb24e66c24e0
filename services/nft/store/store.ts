import { claimChain } from '../../common/claim.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Cursor } from '../../common/consume.js';
import { type Cut, cutTarget, openCut, readCut } from '../../common/cuts.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Log } from '../../common/log.js';
import { createMutex } from '../../common/mutex.js';
import { createSlices } from '../../common/slices.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import type { DecodeOptions, NftBlock } from '../decode/types.js';
import { addBlock, emptyBatch } from './batch.js';
import { nothing, readCursor, readHashes } from './cursor.js';
import { type Details, readVersion, saveDetailsBelow, writeDetails } from './details.js';
import { insertAll, insertInto } from './insert.js';
import { createMemory, type ResolveObjects } from './memory.js';
import { endOf, placeOf } from './place.js';
import { removeBlocksAbove, removeCausedAbove, removeChangesAbove } from './remove.js';
import { restoreUpTo } from './restore.js';
import { rewriteLists } from './rewrite.js';
import { rowsOf } from './rows.js';
import { tablesOf } from './tables.js';
import { createTallies, defaultFewGone } from './tally.js';

export interface StoreOptions {
  readonly database: FencedDatabase;
  readonly target: Target;
  readonly vm: DecodeOptions['vm'];
  readonly log: Log;
  /** Called between any two writes. */
  readonly fault?: FaultPoint | undefined;
  readonly resolveObjects?: ResolveObjects | undefined;
  /** Told when more blocks are whole. */
  readonly onWritten?: (cursor: Cursor) => void;
  /** Told when more is known of collections and tokens. */
  readonly onDetails?: () => void;
  /** Told where the tables are found, after a start or a failure. */
  readonly onRecovered?: (cursor: Cursor) => void;
  /** Told before anything above a height is removed. */
  readonly onUnwind?: (cursor: Cursor) => void;
  /** Told when rows begin to be missing below the cursor, and when they are back. */
  readonly onCuts?: (cuts: number) => void;
  /** How many tokens to keep in memory. */
  readonly capacity?: number;
  /** How much may be gone from a list, however short, before it is written anew. */
  readonly fewGone?: number | undefined;
}

/**
 * The tables as their one writer sees them. Every method that writes leaves them, whatever
 * it is interrupted by, in a state that `recover` turns into one that an undisturbed run
 * could have left.
 */
export interface NftStore {
  /** Ties the tables to a chain. @throws UserError when they hold another one. */
  claim(chain_id: string, vm_type: string): Promise<void>;
  /** Removes what a crash left above the cursor, and says where it is. */
  recover(): Promise<Cursor>;
  /** Writes the blocks right after the cursor. @throws Error when they are not those. */
  writeBlocks(blocks: readonly NftBlock[]): Promise<void>;
  /**
   * Writes what was learnt from the node.
   *
   * @param generation the one before the node was asked: what belongs to another is dropped,
   *   since it may be about blocks that are gone.
   */
  writeDetails(details: Details, generation: number): Promise<boolean>;
  /** Removes every block above a height; 0 removes all. */
  unwind(height: number): Promise<void>;
  /** Runs something while nothing is written. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** The blocks between two heights, inclusive, ascending. */
  hashes(from: number, to: number): Promise<Cursor[]>;
  readonly cursor: Cursor;
  /** Changes whenever blocks were removed. */
  readonly generation: number;
}

/** Memory for 100,000 tokens is about 50 MB. */
const defaultCapacity = 100_000;

/** What is written together at most: large inserts are cheaper by the row, but hold up those who read. */
const [eventsAtOnce, blocksAtOnce] = [10_000, 1_000];

/** Opens the tables for writing; they must have been migrated. */
export function createNftStore(options: StoreOptions): NftStore {
  const { database, log, vm } = options;
  const tables = tablesOf(options.target);
  const fault = options.fault ?? (() => {});
  const exclusive = createMutex();
  const memory = createMemory({
    database,
    tables,
    vm,
    capacity: options.capacity ?? defaultCapacity,
    resolveObjects: options.resolveObjects,
  });
  const tallies = createTallies(database, tables, {
    capacity: options.capacity ?? defaultCapacity,
    fewGone: options.fewGone ?? defaultFewGone,
  });
  let cursor: Cursor = nothing;
  let generation = 0;
  let version = 0;
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;
  const nextVersion = (): number => {
    version = Math.max(version + 1, Date.now() * 1000);
    return version;
  };

  const writeSome = async (blocks: readonly NftBlock[]): Promise<void> => {
    const known = await memory.know(blocks);
    const batch = emptyBatch();
    const slice = createSlices();
    for (const [object, token] of known.learnt)
      batch.objects.push({ object, ...token, at: placeOf(blocks[0]?.height ?? 0, 0) });
    for (const block of blocks) {
      addBlock(batch, known, block, vm);
      await slice();
    }
    const { editions } = known;
    await insertAll(database, tables, rowsOf(batch, nextVersion(), editions, endOf(cursor.height)), fault);
    const { height, hash } = blocks.at(-1) as NftBlock;
    const due = await tallies.add(batch.items.values(), editions);
    const counts = await rewriteLists({ database, tables, fault, editions, at: endOf(height) }, due);
    for (const [index, of] of due.entries()) tallies.restart(of, counts[index] ?? 0);
    await insertInto(
      database,
      tables,
      'blocks',
      batch.blocks.map((row) => JSON.stringify(row)),
      fault,
    );
    await database.confirm();
    memory.keep(known);
    await fault('written');
    cursor = { height, hash };
    options.onWritten?.(cursor);
    // On Move blocks themselves name collections.
    if (batch.shown.size > 0) options.onDetails?.();
  };

  const cuts = { database, table: tables.of('cuts'), name: 'nft.cuts', fault, onCuts: options.onCuts };

  /** Makes a cut. @returns it, and the last block that counts, at or below a height. */
  const startCut = async (height: number): Promise<{ readonly to: Cursor; readonly cut: Cut }> => {
    // What failed before takes no effect after this.
    await database.confirm();
    const [last, newest] = [await readCut(cuts, 'write'), await readCursor(database, tables)];
    const target = Math.min(height, cutTarget(last, newest.height) ?? height);
    const to = target >= newest.height ? newest : await readCursor(database, tables, target);
    return { to, cut: openCut(cuts, last, newest.height) };
  };

  /** Cuts the tables to a height, and what memory knows of them. */
  const cutTo = async (to: Cursor, cut: Cut): Promise<void> => {
    isClean = false;
    generation += 1;
    memory.clear();
    tallies.clear();
    version = Math.max(version, await readVersion(database, tables));
    const begin = (): Promise<void> => cut.begin(to.height);
    const from = { database, tables, fault, onRemove: begin };
    await removeBlocksAbove(from, to.height);
    await saveDetailsBelow(database, tables, to.height, vm === 'move', nextVersion, fault);
    const removed = await removeCausedAbove(from, to.height);
    await restoreUpTo(
      { database, tables, asks: vm !== 'move', nextVersion, fault, onRestore: begin },
      to.height,
    );
    await removeChangesAbove(from, to.height);
    await cut.end();
    if (removed > 0) log.warn({ rows: removed, height: to.height }, 'removed what lay above the cursor');
    cursor = to;
    // Who has begun to ask meanwhile has seen tables that were half cut.
    generation += 1;
    isClean = true;
  };

  return {
    claim: (chain_id, vm_type) =>
      exclusive(() =>
        claimChain(
          { database, table: tables.of('chain'), what: 'the NFTs', name: 'nft.claim' },
          chain_id,
          vm_type,
        ),
      ),
    get cursor() {
      return cursor;
    },
    get generation() {
      return generation;
    },
    recover: () =>
      exclusive(async () => {
        const { to, cut } = await startCut(Number.MAX_SAFE_INTEGER);
        await cutTo(to, cut);
        options.onRecovered?.(to);
        return to;
      }),
    writeBlocks: (blocks) =>
      exclusive(async () => {
        if (!isClean) throw new Error('the tables must be recovered before they are written again');
        isClean = false;
        for (const some of split(blocks)) {
          checkFollows(cursor, some);
          await writeSome(some);
        }
        isClean = true;
      }),
    writeDetails: (details, of) =>
      exclusive(async () => {
        if (!isClean || of !== generation) return false;
        await writeDetails(database, tables, details, nextVersion, fault);
        await database.confirm();
        options.onDetails?.();
        return true;
      }),
    unwind: (height) =>
      exclusive(async () => {
        const { to, cut } = await startCut(height);
        // Below the lower head rows are missing at once: those above it have replaced them.
        await cut.begin(to.height);
        options.onUnwind?.(to);
        await cutTo(to, cut);
      }),
    hold: exclusive,
    hashes: (from, to) => readHashes(database, tables, from, to),
  };
}

/** @throws Error unless the blocks are those right after the cursor, in order. */
function checkFollows(cursor: Cursor, blocks: readonly NftBlock[]): void {
  let { height, hash } = cursor;
  for (const block of blocks) {
    if (height !== 0 && (block.height !== height + 1 || block.parent_hash !== hash))
      throw new Error(`block ${block.height} does not follow block ${height}`);
    ({ height, hash } = block);
  }
}

/** Cuts blocks into batches that are written one after the other; a block is never cut. */
function split(blocks: readonly NftBlock[]): NftBlock[][] {
  const batches: NftBlock[][] = [];
  let [batch, events]: [NftBlock[], number] = [[], 0];
  for (const block of blocks) {
    const full = batch.length >= blocksAtOnce || events + block.events.length > eventsAtOnce;
    if (batch.length > 0 && full) {
      batches.push(batch);
      [batch, events] = [[], 0];
    }
    batch.push(block);
    events += block.events.length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
