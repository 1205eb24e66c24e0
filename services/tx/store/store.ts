import { claimChain } from '../../common/claim.js';
import type { Lines } from '../../common/clickhouse/lines.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Cursor } from '../../common/consume.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Log } from '../../common/log.js';
import { createMutex } from '../../common/mutex.js';
import { createSlices } from '../../common/slices.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { headBefore } from '../../common/writer/head-before.js';
import { createWriterHead } from '../../common/writer/repair.js';
import type { ComparedPart } from '../../common/writer/views.js';
import type { DecodedBlock } from '../decode/types.js';
import { checkFollows, checkTraces, splitBlocks, splitLines, splitTraces } from './batches.js';
import { nothing, type Position, readHashes, readPosition } from './cursor.js';
import { createEnds, type StagedEnds } from './list-end-cache.js';
import { type ListEnd, type ListKey, readAllListEnds, readListEnds } from './list-ends.js';
import { createMsgSets, readMsgSets } from './msg-sets.js';
import { createOwners, type OwnersOfBatch, type ResolveStores } from './owners.js';
import {
  addBlock,
  addTrace,
  cursorRows,
  type DecodedTrace,
  endRows,
  lineColumns,
  listsOfBlocks,
  listsOfTraces,
  type Rows,
  startRows,
  type WrittenBody,
} from './rows.js';
import { type FactName, headOf, tablesOf } from './tables.js';
import { factsAbove, txViews } from './views.js';

export interface StoreOptions {
  readonly database: FencedDatabase;
  readonly target: Target;
  readonly log: Log;
  /** Called between any two writes. */
  readonly fault?: FaultPoint | undefined;
  readonly resolveStores?: ResolveStores | undefined;
  /** Told when more is whole, with what came with it. */
  readonly onWritten?: (written: Written) => void;
  /** Told where the tables are found, after a start or a failure. */
  readonly onRecovered?: (position: Position) => void;
  /** Told before anything above a position is removed. */
  readonly onUnwind?: (position: Position) => void;
  /** Told how far it is while all views are made from facts; '' once they are there. */
  readonly onRebuild?: ((progress: string) => void) | undefined;
  /** Told how many repairs have begun and ended. */
  readonly onRepairs?: (count: number) => void;
  /** How many ends of account lists to keep in memory. */
  readonly endCapacity?: number;
}

/**
 * The tables as their one writer sees them. Every method that writes leaves them, whatever
 * it is interrupted by, in a state that `recover` turns into one that an undisturbed run
 * could have left.
 */
export interface TxStore {
  /**
   * Ties the tables to a chain, or checks that they are tied to it.
   *
   * @throws UserError when they hold another chain.
   */
  claim(chain_id: string, vm_type: string): Promise<void>;
  /** Removes what a crash left above the cursors, and says where they are. */
  recover(): Promise<Position>;
  /** Writes the blocks right after the position. @throws Error when they are not those. */
  writeBlocks(blocks: readonly DecodedBlock[]): Promise<void>;
  /** Writes the internal txs of the blocks right after the position's. */
  writeTraces(traces: readonly DecodedTrace[]): Promise<void>;
  /** Removes every block above a height; 0 removes all. */
  unwind(height: number): Promise<void>;
  /** Runs something while nothing is written. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** See `WriterHead`. */
  compareViews(): AsyncGenerator<ComparedPart, void, undefined>;
  /** The blocks between two heights, inclusive, ascending. */
  hashes(from: number, to: number): Promise<Cursor[]>;
  /** How far the tables are, as this process last left them. */
  readonly position: Position;
}

/** What a batch has added. */
export interface Written {
  /** How far the tables are with it. */
  readonly position: Position;
  readonly bodies: readonly WrittenBody[];
  /** The account lists that were appended to, as they are now. */
  readonly ends: readonly (readonly [ListKey, ListEnd])[];
}

/** Memory for 200,000 list ends is about 50 MB. */
const defaultEndCapacity = 200_000;

/** Opens the tables for writing; they must have been migrated. */
export function createTxStore(options: StoreOptions): TxStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const fault = options.fault ?? (() => {});
  const exclusive = createMutex();
  const endCapacity = options.endCapacity ?? defaultEndCapacity;
  const ends = createEnds(
    (keys) => readListEnds(database, tables, keys, position.last, { priority: 'write' }),
    endCapacity,
  );
  const head = createWriterHead({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild, onRepairs: options.onRepairs },
    ...{ head: headOf(tables), views: [txViews], above: factsAbove },
  });
  const owners = createOwners(database, tables, log, options.resolveStores);
  let position: Position = nothing;
  const sets = createMsgSets();
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;

  const insert = async (name: FactName, lines: readonly string[]): Promise<void> => {
    for (const some of splitLines(lines)) {
      await fault(`write ${name}`);
      await database.insert(tables.of(name), some.join('\n'), { name: `tx.write_${name}` });
    }
  };

  const insertLines = async (name: keyof typeof lineColumns, lines: Lines): Promise<void> => {
    const table = `${tables.of(name)} (${lineColumns[name]})`;
    for (const some of splitLines(lines.texts())) {
      await fault(`write ${name}`);
      await database.insert(table, some.join('\n'), { name: `tx.write_${name}` }, 'TabSeparated');
    }
  };

  /** Runs a write; whatever stops it, nothing is written again before `recover`. */
  const writing = (work: () => Promise<void>): Promise<void> =>
    exclusive(async () => {
      if (!isClean) throw new Error('the tables must be recovered before they are written again');
      isClean = false;
      await work();
      isClean = true;
    });

  /** Where the tables are, after whatever happened to them. */
  const findHead = async (): Promise<Position> => {
    const positionAt = (height: number) =>
      readPosition(database, tables, height, height, { priority: 'write' });
    return (await head.find(() => headBefore(database, tables.of('cuts'), 'tx', positionAt))).position;
  };

  /** Makes the tables what they are at a position, and forgets what memory knows of them. */
  const repair = async (to: Position, onLowered?: () => void): Promise<number> => {
    isClean = false;
    ends.clear();
    owners.clear();
    const removed = await head.repair(to, onLowered);
    await sets.restore(readMsgSets(database, tables, to.last.tx));
    ends.clear(await readAllListEnds(database, tables, endCapacity));
    await fault('removed');
    position = to;
    isClean = true;
    return removed;
  };

  /** Says that everything up to a position is written, and shows it. */
  const advance = async (next: Position, rows: Rows, staged: StagedEnds): Promise<void> => {
    await head.advance(next);
    staged.commit();
    await fault('written');
    position = next;
    options.onWritten?.({ position, bodies: rows.written, ends: [...staged.changed()] });
  };

  const insertRows = async (rows: Rows): Promise<void> => {
    await insertLines('bodies', rows.bodies);
    await insertLines('hashes', rows.hashes);
    await insertLines('account_items', rows.account_items);
    await insertLines('msg_set_txs', rows.msg_set_txs);
  };

  const writeSomeBlocks = async (blocks: readonly DecodedBlock[]): Promise<void> => {
    const owned: OwnersOfBatch = await owners.find(blocks);
    const [staged, stagedSets] = [await ends.stage(listsOfBlocks(blocks, owned)), sets.stage()];
    const rows = startRows();
    const slice = createSlices();
    let next = position;
    for (const block of blocks) {
      next = addBlock(rows, block, next, staged, stagedSets, owned);
      await slice();
    }
    await insertRows(rows);
    await insert(
      'msg_sets',
      stagedSets.added().map((row) => JSON.stringify(row)),
    );
    await insert(
      'stores',
      owned.learnt.map((row) => JSON.stringify(row)),
    );
    await insertLines('list_ends', endRows(staged.changed(), database.nextVersion()));
    await insert('blocks', cursorRows(rows));
    stagedSets.commit();
    await advance(next, rows, staged);
  };

  /** A trace may be of a block that was rolled back, here or in the block service. */
  const checkHashes = async (traces: readonly DecodedTrace[]): Promise<void> => {
    const [first, last] = [traces[0]?.height ?? 0, traces.at(-1)?.height ?? 0];
    const ours = new Map(
      (await readHashes(database, tables, first, last)).map(({ height, hash }) => [height, hash]),
    );
    for (const { height, hash } of traces) {
      if (ours.get(height) !== hash) throw new Error(`the trace of block ${height} is of another block`);
    }
  };

  const writeSomeTraces = async (traces: readonly DecodedTrace[]): Promise<void> => {
    const staged = await ends.stage(listsOfTraces(traces));
    const rows = startRows();
    const slice = createSlices();
    let next = position;
    for (const trace of traces) {
      next = addTrace(rows, trace, next, staged);
      await slice();
    }
    await insertRows(rows);
    await insertLines('list_ends', endRows(staged.changed(), database.nextVersion()));
    await insert('internal_blocks', cursorRows(rows));
    await advance(next, rows, staged);
  };

  return {
    claim: (chain_id, vm_type) =>
      exclusive(() =>
        claimChain(
          { database, table: tables.of('chain'), what: 'the txs', name: 'tx.claim' },
          chain_id,
          vm_type,
        ),
      ),
    get position() {
      return position;
    },
    recover: () =>
      exclusive(async () => {
        const found = await findHead();
        const removed = await repair(found);
        options.onRecovered?.(found);
        if (removed > 0) log.warn({ rows: removed, height: found.height }, 'removed what a crash had left');
        return found;
      }),
    writeBlocks: (blocks) =>
      writing(async () => {
        for (const some of splitBlocks(blocks)) {
          checkFollows(position, some);
          await writeSomeBlocks(some);
        }
      }),
    writeTraces: (traces) =>
      writing(async () => {
        for (const some of splitTraces(traces)) {
          checkTraces(position, some);
          await checkHashes(some);
          await writeSomeTraces(some);
        }
      }),
    unwind: (height) =>
      exclusive(async () => {
        const newest = await findHead();
        const to =
          height >= newest.height
            ? newest
            : await readPosition(database, tables, height, newest.internal_height, { priority: 'write' });
        // It can be lowered although that seemed to fail.
        isClean = false;
        await repair(to, () => options.onUnwind?.(to));
      }),
    hold: exclusive,
    compareViews: head.compareViews,
    hashes: (from, to) => readHashes(database, tables, from, to),
  };
}
