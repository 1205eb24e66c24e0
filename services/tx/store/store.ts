import { checkFollows } from '../../common/consumer/consume.js';
import { createSlices } from '../../common/util/concurrency.js';
import {
  createTableWriter,
  type StoreEnvironment,
  type TableStore,
} from '../../common/writer/table-writer.js';
import type { DecodedBlock, DecodedTx } from '../decode/types.js';
import { checkTraces, partsOf, splitBlocks, splitTraces } from './batches.js';
import { nothing, type Position } from './cursor.js';
import { createEnds, type KnownEnds, type StagedEnds } from './list-end-cache.js';
import { type ListEnd, type ListKey, readAllListEnds, readListEnds } from './list-ends.js';
import { createMsgSets, readMsgSets, type StagedMsgSets } from './msg-sets.js';
import { createOwners, type ResolveStores, type StoreRow, storesOf } from './owners.js';
import {
  addEntry,
  type BatchEnd,
  type DecodedTrace,
  type Entry,
  endRows,
  entriesOfBlocks,
  entriesOfTraces,
  listsOf,
  rowColumns,
  startBatch,
  startRows,
} from './rows.js';
import { factsAbove, headOf, type Kind, type TableName, tablesOf, txViews } from './tables.js';

export interface StoreOptions extends StoreEnvironment<Position> {
  readonly resolveStores?: ResolveStores | undefined;
  /** Told when more is whole, with what came with it. */
  readonly onWritten?: (written: Written) => void;
  /** Told of a tx that is not listed under everybody whom it names. */
  readonly onCut?: ((tx: DecodedTx) => void) | undefined;
  /** How many ends of account lists to keep in memory. */
  readonly endCapacity?: number;
}

/** The tables as their one writer sees them. */
export interface TxStore extends TableStore<Position> {
  /** Writes the blocks right after the position. @throws Error when they are not those. */
  writeBlocks(blocks: readonly DecodedBlock[]): Promise<void>;
  /** The ends of accounts' lists that are in memory; they may be ahead of the position. */
  readonly ends: KnownEnds;
  /** Writes the internal txs of the blocks right after the position's. */
  writeTraces(traces: readonly DecodedTrace[]): Promise<void>;
}

/** What a batch has added. */
export interface Written {
  /** Where its txs and receipts are. */
  readonly hashes: readonly Pick<Entry, 'kind' | 'hash' | 'sequence'>[];
  /** The rows that say where its blocks end, and of which table. */
  readonly blocks: { readonly table: 'blocks' | 'internal_blocks'; readonly rows: BatchEnd['cursor'] };
  /** Its bodies, and the account lists that were appended to, as they are now; undefined where that is too much to be held. */
  readonly items:
    | { readonly bodies: readonly Entry[]; readonly ends: readonly (readonly [ListKey, ListEnd])[] }
    | undefined;
}

/** Memory for 200,000 list ends is about 50 MB. */
const defaultEndCapacity = 200_000;

const jsonLines = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row));

/** Opens the tables for writing; they must have been migrated. */
export function createTxStore(options: StoreOptions): TxStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const head = headOf(tables);
  const fault = options.fault ?? (() => {});
  const endCapacity = options.endCapacity ?? defaultEndCapacity;
  const ends = createEnds(
    (keys) => readListEnds(database, tables, keys, numbered, { priority: 'write' }),
    endCapacity,
  );
  /** The last sequences that are written, also above the position. */
  let numbered = nothing.last as Record<Kind, number>;
  const owners = createOwners(database, tables, log, options.resolveStores);
  const sets = createMsgSets();
  const writer = createTableWriter<Position, TableName>({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild },
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

  /** Writes a part of a batch: above the position, where it counts for nothing yet. */
  const writePart = async (
    part: readonly Entry[],
    sets: StagedMsgSets,
    created: ReadonlyMap<string, string>,
    height: number,
  ): Promise<StagedEnds> => {
    // Where not all can be asked for, those come first of which a tx names few.
    const byCount = part.map((entry) => entry.stores).sort((one, other) => one.length - other.length);
    const stores = new Set(byCount.flat());
    const { of, learnt } = await owners.find(stores, created, height);
    const staged = await ends.stage(listsOf(part, of));
    const rows = startRows();
    const slice = createSlices();
    for (const entry of part) {
      addEntry(rows, entry, staged, sets, of);
      await slice();
    }
    for (const name of ['bodies', 'hashes', 'account_items', 'msg_set_txs'] as const)
      await writer.insertBinary(name, rows[name], rowColumns[name]);
    await writer.insert('stores', jsonLines(learnt));
    const endsChanged = endRows(staged.changed(), database.nextVersion());
    await writer.insertBinary('list_ends', endsChanged, rowColumns.list_ends);
    staged.commit();
    for (const { kind, sequence } of part) numbered[kind] = sequence;
    return staged;
  };

  /** Writes a batch: its parts, then what says where it ends. */
  const writeBatch = async (
    entries: Iterable<Entry>,
    end: BatchEnd,
    cursorTable: 'blocks' | 'internal_blocks',
    created: readonly StoreRow[] = [],
    height = 0,
  ): Promise<void> => {
    const stagedSets = sets.stage();
    const ownersCreated = new Map(created.map(({ store, owner }) => [store, owner]));
    numbered = { ...store.position.last };
    const hashes: Written['hashes'][number][] = [];
    let parts = 0;
    let items: Written['items'] = { bodies: [], ends: [] };
    for (const part of partsOf(entries)) {
      const staged = await writePart(part, stagedSets, ownersCreated, height);
      for (const { kind, hash, sequence } of part)
        if (kind !== 'internal_tx') hashes.push({ kind, hash, sequence });
      parts += 1;
      items = parts === 1 ? { bodies: part, ends: [...staged.changed()] } : undefined;
    }
    await writer.insertBinary('hashes', end.frames, rowColumns.hashes);
    await writer.insert('msg_sets', jsonLines(stagedSets.added()));
    await writer.insert('stores', jsonLines(created));
    await writer.insert(cursorTable, jsonLines(end.cursor));
    stagedSets.commit();
    await writer.advance(end.position);
    await fault('written');
    options.head.advance(end.position);
    options.onWritten?.({ hashes, items, blocks: { table: cursorTable, rows: end.cursor } });
  };

  /** A trace may be of a block that was rolled back, here or in the block service. */
  const checkHashes = async (traces: readonly DecodedTrace[]): Promise<void> => {
    const [first, last] = [traces[0]?.height ?? 0, traces.at(-1)?.height ?? 0];
    const ours = new Map((await store.hashes(first, last)).map(({ height, hash }) => [height, hash]));
    for (const { height, hash } of traces) {
      if (ours.get(height) !== hash) throw new Error(`the trace of block ${height} is of another block`);
    }
  };

  return Object.assign(store, {
    ends,
    writeBlocks: (blocks: readonly DecodedBlock[]) =>
      exclusive(() =>
        writing(async () => {
          for (const some of splitBlocks(blocks)) {
            checkFollows(store.position, some);
            const end = startBatch(store.position);
            const entries = entriesOfBlocks(some, end, options.onCut);
            await writeBatch(entries, end, 'blocks', storesOf(some), some.at(-1)?.height);
          }
        }),
      ),
    writeTraces: (traces: readonly DecodedTrace[]) =>
      exclusive(() =>
        writing(async () => {
          for (const some of splitTraces(traces)) {
            checkTraces(store.position, some);
            await checkHashes(some);
            const end = startBatch(store.position);
            await writeBatch(entriesOfTraces(some, end), end, 'internal_blocks');
          }
        }),
      ),
  });
}
