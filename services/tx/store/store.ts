import { checkFollows } from '../../common/consume.js';
import { createSlices } from '../../common/slices.js';
import {
  createTableWriter,
  type StoreEnvironment,
  type TableStore,
} from '../../common/writer/table-writer.js';
import type { DecodedBlock } from '../decode/types.js';
import { checkTraces, splitBlocks, splitTraces } from './batches.js';
import { nothing, type Position } from './cursor.js';
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
import { headOf, type TableName, tablesOf } from './tables.js';
import { factsAbove, txViews } from './views.js';

export interface StoreOptions extends StoreEnvironment<Position> {
  readonly resolveStores?: ResolveStores | undefined;
  /** Told when more is whole, with what came with it. */
  readonly onWritten?: (written: Written) => void;
  /** How many ends of account lists to keep in memory. */
  readonly endCapacity?: number;
}

/** The tables as their one writer sees them. */
export interface TxStore extends TableStore<Position> {
  /** Writes the blocks right after the position. @throws Error when they are not those. */
  writeBlocks(blocks: readonly DecodedBlock[]): Promise<void>;
  /** Writes the internal txs of the blocks right after the position's. */
  writeTraces(traces: readonly DecodedTrace[]): Promise<void>;
}

/** What a batch has added. */
export interface Written {
  readonly bodies: readonly WrittenBody[];
  /** The account lists that were appended to, as they are now. */
  readonly ends: readonly (readonly [ListKey, ListEnd])[];
}

/** Characters and lines of one insert. */
const insertSize = [4 * 1024 * 1024, 100_000] as const;

/** Memory for 200,000 list ends is about 50 MB. */
const defaultEndCapacity = 200_000;

/** Opens the tables for writing; they must have been migrated. */
export function createTxStore(options: StoreOptions): TxStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const head = headOf(tables);
  const fault = options.fault ?? (() => {});
  const endCapacity = options.endCapacity ?? defaultEndCapacity;
  const ends = createEnds(
    (keys) => readListEnds(database, tables, keys, store.position.last, { priority: 'write' }),
    endCapacity,
  );
  const owners = createOwners(database, tables, log, options.resolveStores);
  const sets = createMsgSets();
  const writer = createTableWriter<Position, TableName>({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild, insertSize },
    ...{ head, views: [txViews], above: factsAbove, shown: options.head, nothing, what: 'the txs are' },
    forget() {
      ends.clear();
      owners.clear();
    },
    async load({ last }) {
      await sets.restore(readMsgSets(database, tables, last.tx));
      ends.clear(await readAllListEnds(database, tables, endCapacity));
    },
  });
  const { store, exclusive, writing } = writer;

  /** Says that everything up to a position is written, and shows it. */
  const advance = async (next: Position, rows: Rows, staged: StagedEnds): Promise<void> => {
    await writer.advance(next);
    staged.commit();
    await fault('written');
    options.head.advance(next);
    options.onWritten?.({ bodies: rows.written, ends: [...staged.changed()] });
  };

  const insertRows = async (rows: Rows): Promise<void> => {
    for (const name of ['bodies', 'hashes', 'account_items', 'msg_set_txs'] as const)
      await writer.insert(name, rows[name].texts(), lineColumns[name]);
  };

  const insertEnds = (staged: StagedEnds): Promise<void> => {
    const rows = endRows(staged.changed(), database.nextVersion());
    return writer.insert('list_ends', rows.texts(), lineColumns.list_ends);
  };

  const writeSomeBlocks = async (blocks: readonly DecodedBlock[]): Promise<void> => {
    const owned: OwnersOfBatch = await owners.find(blocks);
    const [staged, stagedSets] = [await ends.stage(listsOfBlocks(blocks, owned)), sets.stage()];
    const rows = startRows();
    const slice = createSlices();
    let next = store.position;
    for (const block of blocks) {
      next = addBlock(rows, block, next, staged, stagedSets, owned);
      await slice();
    }
    await insertRows(rows);
    await writer.insert(
      'msg_sets',
      stagedSets.added().map((row) => JSON.stringify(row)),
    );
    await writer.insert(
      'stores',
      owned.learnt.map((row) => JSON.stringify(row)),
    );
    await insertEnds(staged);
    await writer.insert('blocks', cursorRows(rows));
    stagedSets.commit();
    await advance(next, rows, staged);
  };

  /** A trace may be of a block that was rolled back, here or in the block service. */
  const checkHashes = async (traces: readonly DecodedTrace[]): Promise<void> => {
    const [first, last] = [traces[0]?.height ?? 0, traces.at(-1)?.height ?? 0];
    const ours = new Map((await store.hashes(first, last)).map(({ height, hash }) => [height, hash]));
    for (const { height, hash } of traces) {
      if (ours.get(height) !== hash) throw new Error(`the trace of block ${height} is of another block`);
    }
  };

  const writeSomeTraces = async (traces: readonly DecodedTrace[]): Promise<void> => {
    const staged = await ends.stage(listsOfTraces(traces));
    const rows = startRows();
    const slice = createSlices();
    let next = store.position;
    for (const trace of traces) {
      next = addTrace(rows, trace, next, staged);
      await slice();
    }
    await insertRows(rows);
    await insertEnds(staged);
    await writer.insert('internal_blocks', cursorRows(rows));
    await advance(next, rows, staged);
  };

  return Object.assign(store, {
    writeBlocks: (blocks: readonly DecodedBlock[]) =>
      exclusive(() =>
        writing(async () => {
          for (const some of splitBlocks(blocks)) {
            checkFollows(store.position, some);
            await writeSomeBlocks(some);
          }
        }),
      ),
    writeTraces: (traces: readonly DecodedTrace[]) =>
      exclusive(() =>
        writing(async () => {
          for (const some of splitTraces(traces)) {
            checkTraces(store.position, some);
            await checkHashes(some);
            await writeSomeTraces(some);
          }
        }),
      ),
  });
}
