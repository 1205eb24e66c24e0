import { claimChain } from '../../common/claim.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Cursor } from '../../common/consume.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Log } from '../../common/log.js';
import { createMutex } from '../../common/mutex.js';
import { createSlices } from '../../common/slices.js';
import { createCompactor } from '../../common/writer/compact.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { headBefore } from '../../common/writer/head-before.js';
import type { HeadRow } from '../../common/writer/head-table.js';
import { createWriterHead } from '../../common/writer/repair.js';
import type { ComparedPart } from '../../common/writer/views.js';
import type { DecodeOptions, NftBlock } from '../decode/types.js';
import { askAgainAbove } from './ask-again.js';
import { addBlock, type Batch, emptyBatch } from './batch.js';
import { nothing, type Position, readCursor, readHashes } from './cursor.js';
import { type Details, detailFacts, queueRows, readVersion } from './details.js';
import { earlierDetails, takeOverEarlierFacts } from './earlier-facts.js';
import { insertAll, insertInto } from './insert.js';
import type { Known } from './known.js';
import { lookUpNames, lookUpOrigins } from './lookups.js';
import { createMemory, type ResolveObjects } from './memory.js';
import { placeOf } from './place.js';
import { collectionRows, factRows, type NamedCollection, tokenRows } from './rows.js';
import { headOf, tablesOf } from './tables.js';
import { factsAbove, nftViews } from './views.js';

export interface StoreOptions {
  readonly database: FencedDatabase;
  readonly target: Target;
  readonly vm: DecodeOptions['vm'];
  readonly log: Log;
  /** Called between any two writes. */
  readonly fault?: FaultPoint | undefined;
  readonly resolveObjects?: ResolveObjects | undefined;
  /** Told when more blocks are whole. */
  readonly onWritten?: (position: Position) => void;
  /** Told when more is known of collections and tokens. */
  readonly onDetails?: () => void;
  /** Told where the tables are found, after a start or a failure. */
  readonly onRecovered?: (position: Position) => void;
  /** Told before anything above a height is removed. */
  readonly onUnwind?: (position: Position) => void;
  /** Told how far it is while all views are made from facts; '' once they are there. */
  readonly onRebuild?: ((progress: string) => void) | undefined;
  /** Told how many repairs have begun and ended. */
  readonly onRepairs?: (count: number) => void;
  /** How many tokens to keep in memory. */
  readonly capacity?: number;
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
  recover(): Promise<Position>;
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
  /** See `WriterHead`. */
  compareViews(): AsyncGenerator<ComparedPart, void, undefined>;
  /** The blocks between two heights, inclusive, ascending. */
  hashes(from: number, to: number): Promise<Cursor[]>;
  readonly cursor: Position;
  /** Changes whenever blocks were removed. */
  readonly generation: number;
}

/** Memory for 100,000 tokens is about 50 MB. */
const defaultCapacity = 100_000;

/** What is written together at most: large inserts are cheaper by the row, but hold up those who read. */
const [eventsAtOnce, blocksAtOnce] = [10_000, 1_000];

/** Views of which rows are deleted as tokens move. */
const compacted = ['token_lists', 'token_counts'] as const;

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
  let cursor: Position = nothing;
  let generation = 0;
  let version = 0;
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;
  let hasFailed = false;
  const nextVersion = (): number => {
    version = Math.max(version + 1, Date.now() * 1000);
    return version;
  };

  const head = createWriterHead({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild, onRepairs: options.onRepairs },
    head: headOf(tables),
    views: nftViews,
    above: factsAbove,
  });

  const compactor = createCompactor({ database, tables, views: compacted, name: 'nft', log });

  /** Runs a write; whatever stops it, nothing is written again before `recover`. */
  const writing = async (work: () => Promise<void>): Promise<void> => {
    if (!isClean) throw new Error('the tables must be recovered before they are written again');
    isClean = false;
    hasFailed = true;
    await work();
    isClean = true;
    hasFailed = false;
  };

  /** The collections of a batch of which more is known now, those that have a name. */
  const namedIn = async (batch: Batch, known: Known): Promise<NamedCollection[]> => {
    const said = new Map(batch.names.map((name) => [name.collection, name]));
    // One that is new has no name but those of the batch.
    const older = [...batch.origins].filter(([, before]) => before !== undefined);
    const unsaid = older.map(([collection]) => collection).filter((collection) => !said.has(collection));
    const names = await lookUpNames(database, tables, unsaid);
    return [...batch.origins].flatMap(([collection, before]) => {
      const [name, origin] = [said.get(collection) ?? names.get(collection), known.origins.get(collection)];
      return name === undefined || origin === undefined ? [] : [{ origin, before, name }];
    });
  };

  const advance = async (to: Position): Promise<void> => {
    await head.advance(to);
    cursor = to;
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
    const details = batch.origins.size === 0 ? cursor.details : nextVersion();
    await insertAll(database, tables, factRows(batch, details), fault);
    const named = await namedIn(batch, known);
    const viewVersion = database.nextVersion();
    await head.writeViews([...tokenRows(batch, viewVersion), ...collectionRows(named, viewVersion)]);
    await insertInto(
      database,
      tables,
      'blocks',
      batch.blocks.map((row) => JSON.stringify(row)),
      fault,
    );
    const { height, hash } = blocks.at(-1) as NftBlock;
    await advance({ height, hash, details });
    memory.keep(known);
    await fault('written');
    options.onWritten?.(cursor);
    // Blocks themselves name collections on Move, and tell when they were created.
    if (named.length > 0) options.onDetails?.();
    await compactor.afterBatch();
  };

  /** Writes what the node said: the facts, what follows from them, and that it counts. */
  const writeFactsOfDetails = async (details: Details): Promise<void> => {
    const facts = nextVersion();
    await insertAll(database, tables, detailFacts(details, facts), fault);
    const origins = await lookUpOrigins(
      database,
      tables,
      details.names.map(({ collection }) => collection),
    );
    const named = details.names.flatMap((name) => {
      const origin = origins.get(name.collection);
      return origin === undefined ? [] : [{ origin, before: undefined, name }];
    });
    await head.writeViews(collectionRows(named, database.nextVersion()));
    await advance({ ...cursor, details: facts });
  };

  /** Finds where the tables are; those of an earlier version get the facts that they lack. */
  const find = async (): Promise<Position> => {
    let isNew = false;
    const { position, views } = await head.find(async (): Promise<HeadRow<Position>> => {
      isNew = true;
      const details = await earlierDetails(database, tables);
      return headBefore(database, tables.of('cuts'), 'nft', async (height) => ({
        ...(await readCursor(database, tables, height, { priority: 'write' })),
        details,
      }));
    });
    if (!isNew) return position;
    // A head that is written says that these are not, or no longer, the facts of an earlier version.
    if (views === 'rebuilding') {
      options.onRebuild?.('the facts of an earlier version are being taken over');
      await takeOverEarlierFacts({ database, tables, fault, log });
    } else await head.advance(position);
    return position;
  };

  /** Makes the tables what they are at a position, and forgets what memory knows of them. */
  const repair = async (to: Position, onLowered?: () => void): Promise<number> => {
    isClean = false;
    generation += 1;
    memory.clear();
    // Above everything that counts, also where the clock has gone back since.
    version = Math.max(version, to.details, await readVersion(database, tables));
    await askAgainAbove({ database, tables, asksForTokens: vm !== 'move', nextVersion, fault }, to.height);
    const removed = await head.repair(to, onLowered);
    await fault('removed');
    cursor = to;
    // Who has begun to ask meanwhile has seen tables that were half repaired.
    generation += 1;
    isClean = true;
    hasFailed = false;
    return removed;
  };

  const recover = async (): Promise<Position> => {
    const found = await find();
    const removed = await repair(found);
    if (removed > 0) log.warn({ rows: removed, height: found.height }, 'removed what a crash had left');
    options.onRecovered?.(found);
    return found;
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
    recover: () => exclusive(recover),
    writeBlocks: (blocks) =>
      exclusive(() =>
        writing(async () => {
          for (const some of split(blocks)) {
            checkFollows(cursor, some);
            await writeSome(some);
          }
        }),
      ),
    writeDetails: (details, of) =>
      exclusive(async () => {
        // Blocks recover the tables when they come; details may come where no block does.
        if (hasFailed && of === generation) await recover();
        if (!isClean || of !== generation) return false;
        if (details.names.length + details.uris.length > 0) await writing(() => writeFactsOfDetails(details));
        await insertAll(database, tables, queueRows(details, nextVersion()), fault);
        await database.confirm();
        options.onDetails?.();
        return true;
      }),
    unwind: (height) =>
      exclusive(async () => {
        const found = await find();
        const to = height >= found.height ? found : await readCursor(database, tables, height);
        await repair({ ...to, details: found.details }, () => options.onUnwind?.({ ...found, ...to }));
      }),
    hold: exclusive,
    compareViews: head.compareViews,
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

/** Splits blocks into batches that are written one after the other; a block is never split. */
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
