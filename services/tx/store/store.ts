import { claimChain } from '../../common/claim.js';
import type { Lines } from '../../common/clickhouse/lines.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Cursor } from '../../common/consume.js';
import { type Cut, openCut } from '../../common/cuts.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Log } from '../../common/log.js';
import { createMutex } from '../../common/mutex.js';
import { createSlices } from '../../common/slices.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import type { DecodedBlock } from '../decode/types.js';
import { readAccountHeads, readAllHeads } from './account-heads.js';
import type { AccountHead, ListKey } from './account-list.js';
import { checkFollows, checkTraces, splitBlocks, splitLines, splitTraces } from './batches.js';
import { nothing, type Position, readHashes, readPosition } from './cursor.js';
import { createHeads } from './heads.js';
import { makeHeads } from './make-heads.js';
import { createMsgSets, type MsgSets, readMsgSets } from './msg-sets.js';
import { createOwners, type OwnersOfBatch, type ResolveStores } from './owners.js';
import { removeAbove } from './remove.js';
import { restoreHeads } from './restore-heads.js';
import {
  addBlock,
  addTrace,
  cursorRows,
  type DecodedTrace,
  headRows,
  lineColumns,
  listsOfBlocks,
  listsOfTraces,
  type Rows,
  startRows,
  type WrittenBody,
} from './rows.js';
import { type TableName, tablesOf } from './tables.js';
import { readTip, type Tip } from './tip.js';

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
  /** Told the number of cuts when one begins, and when it is done: see `cuts.ts`. */
  readonly onCuts?: (cuts: number) => void;
  /** How many ends of account lists to keep in memory. */
  readonly headCapacity?: number;
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
  /**
   * Removes every block above a height, and below it what was written together with them:
   * afterwards the position is the end of a batch. 0 removes all.
   */
  unwind(height: number): Promise<void>;
  /** Runs something while nothing is written. */
  hold<T>(work: () => Promise<T>): Promise<T>;
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
  readonly heads: readonly (readonly [ListKey, AccountHead])[];
}

/** Memory for 200,000 list ends is about 50 MB. */
const defaultHeadCapacity = 200_000;

/** Opens the tables for writing; they must have been migrated. */
export function createTxStore(options: StoreOptions): TxStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const fault = options.fault ?? (() => {});
  const exclusive = createMutex();
  const headCapacity = options.headCapacity ?? defaultHeadCapacity;
  const heads = createHeads((keys) => readAccountHeads(database, tables, keys, position.last), headCapacity);
  const owners = createOwners(database, tables, log, options.resolveStores);
  let position: Position = nothing;
  let sets: MsgSets = createMsgSets([]);
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;

  const insert = async (name: TableName, lines: readonly string[]): Promise<void> => {
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

  const startCut = ({ cut, newest }: Tip): Cut =>
    openCut(
      { database, table: tables.of('cuts'), name: 'tx.cuts', fault, onCuts: options.onCuts },
      cut,
      newest,
    );

  /** How far the tables are, for good: what failed before takes no effect after this. */
  const tipForCut = async (): Promise<Tip> => {
    await database.confirm();
    return readTip(database, tables);
  };

  /** Cuts the tables to a position, and what memory knows of them. */
  const cutTo = async (to: Position, cut: Cut): Promise<number> => {
    isClean = false;
    heads.clear();
    owners.clear();
    const restoring = { database, tables, insertHeads: (rows: Lines) => insertLines('account_heads', rows) };
    const removed = await removeAbove(
      {
        ...{ database, tables, fault },
        begin: () => cut.begin(to.height),
        putHeadsRight: () => restoreHeads(restoring, to),
      },
      to,
    );
    await cut.end();
    await makeHeads(restoring, to);
    sets = createMsgSets(await readMsgSets(database, tables, 0, to.last.tx));
    heads.clear(await readAllHeads(database, tables, headCapacity));
    position = to;
    isClean = true;
    return removed;
  };

  const insertRows = async (rows: Rows): Promise<void> => {
    await insertLines('bodies', rows.bodies);
    await insertLines('hashes', rows.hashes);
    await insertLines('account_items', rows.account_items);
    await insertLines('msg_set_txs', rows.msg_set_txs);
  };

  const writeSomeBlocks = async (blocks: readonly DecodedBlock[]): Promise<void> => {
    const owned: OwnersOfBatch = await owners.find(blocks);
    const [staged, stagedSets] = [await heads.stage(listsOfBlocks(blocks, owned)), sets.stage()];
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
    await insertLines('account_heads', headRows(staged.changed()));
    await insert('blocks', cursorRows(rows));
    await database.confirm();
    staged.commit();
    stagedSets.commit();
    await fault('written');
    position = next;
    options.onWritten?.({ position, bodies: rows.written, heads: [...staged.changed()] });
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
    const staged = await heads.stage(listsOfTraces(traces));
    const rows = startRows();
    const slice = createSlices();
    let next = position;
    for (const trace of traces) {
      next = addTrace(rows, trace, next, staged);
      await slice();
    }
    await insertRows(rows);
    await insertLines('account_heads', headRows(staged.changed()));
    await insert('internal_blocks', cursorRows(rows));
    await database.confirm();
    staged.commit();
    await fault('written');
    position = next;
    options.onWritten?.({ position, bodies: rows.written, heads: [...staged.changed()] });
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
        const tip = await tipForCut();
        const found = tip.position;
        const removed = await cutTo(found, startCut(tip));
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
        const tip = await tipForCut();
        // One that was begun and not ended may have removed blocks down to its own height.
        const to = await readPosition(database, tables, Math.min(height, tip.cutTo ?? height));
        const cut = startCut(tip);
        // It can be begun although that seemed to fail.
        isClean = false;
        await cut.begin(to.height);
        options.onUnwind?.(to);
        await cutTo(to, cut);
      }),
    hold: exclusive,
    hashes: (from, to) => readHashes(database, tables, from, to),
  };
}
