import { checkFollows } from '../../common/consumer/consume.js';
import { atMost, chunks } from '../../common/util/chunk.js';
import { createSlices } from '../../common/util/concurrency.js';
import { createCompactor } from '../../common/writer/compact.js';
import { headBefore } from '../../common/writer/repair.js';
import {
  createTableWriter,
  type StoreEnvironment,
  type TableStore,
} from '../../common/writer/table-writer.js';
import type { DecodeOptions, NftBlock, NftEvent } from '../decode/types.js';
import { askAgainAbove } from './ask-again.js';
import { addBlock, type Batch, emptyBatch } from './batch.js';
import { nothing, type Position } from './cursor.js';
import { type Details, detailFacts, queueRows, readVersion } from './details.js';
import { earlierDetails, takeOverEarlierFacts } from './earlier-facts.js';
import type { Known } from './known.js';
import { lookUpNames, lookUpOrigins } from './lookups.js';
import { createMemory, type ResolveObjects } from './memory.js';
import { collectionRows, factRows, type NamedCollection, type TableRows, tokenRows } from './rows.js';
import { factsAbove, headOf, nftViews, type TableName, tablesOf } from './tables.js';
import { placeOf } from './token.js';

export interface StoreOptions extends StoreEnvironment<Position> {
  readonly vm: DecodeOptions['vm'];
  readonly resolveObjects?: ResolveObjects | undefined;
  /** How many tokens to keep in memory. */
  readonly capacity?: number;
}

/** The tables as their one writer sees them. */
export interface NftStore extends TableStore<Position> {
  /** Writes the blocks right after the position. @throws Error when they are not those. */
  writeBlocks(blocks: readonly NftBlock[]): Promise<void>;
  /**
   * Writes what was learnt from the node.
   *
   * @param revision the one before the node was asked: what belongs to another is dropped,
   *   since it may be about blocks that are gone.
   */
  writeDetails(details: Details, revision: number): Promise<boolean>;
}

/** Memory for 100,000 tokens is about 50 MB. */
const defaultCapacity = 100_000;

/** What is written together at most: large inserts are cheaper by the row, but hold up those who read. */
const [eventsAtOnce, blocksAtOnce] = [10_000, 1_000];

/** Characters of ids and uris that are written together. Each stands in many rows. */
const charactersAtOnce = 8 * 1024 * 1024;

/** A single block may have more than that: it is written in parts of so many events, and its lists are not read meanwhile. */
const eventsOfPart = 30_000;

const charactersOf = (event: NftEvent): number =>
  ('token' in event ? (event.token.token_id?.length ?? 0) : 0) +
  ('uri' in event ? (event.uri?.length ?? 0) : 0);

/** The parts that a batch is written in: itself, unless it is a block that comes to more than is held at once. */
function partsOf(blocks: readonly NftBlock[]): (readonly NftBlock[])[] {
  const [block] = blocks;
  if (block === undefined || blocks.length > 1) return [blocks];
  const parts = chunks(block.events, atMost(eventsOfPart), { most: charactersAtOnce, of: charactersOf });
  const cut = [...parts].map((events) => [{ ...block, events }]);
  return cut.length > 1 ? cut : [blocks];
}

/** Views of which rows are deleted as tokens move. */
const compacted = ['token_lists', 'token_counts'] as const;

/** Opens the tables for writing; they must have been migrated. */
export function createNftStore(options: StoreOptions): NftStore {
  const { database, log, vm } = options;
  const tables = tablesOf(options.target);
  const head = headOf(tables);
  const fault = options.fault ?? (() => {});
  const memory = createMemory({
    database,
    tables,
    vm,
    capacity: options.capacity ?? defaultCapacity,
    resolveObjects: options.resolveObjects,
  });
  let version = 0;
  const nextVersion = (): number => {
    version = Math.max(version + 1, Date.now() * 1000);
    return version;
  };

  const writer = createTableWriter<Position, TableName>({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild },
    ...{ head, views: nftViews, above: factsAbove, shown: options.head, nothing, what: 'the NFTs are' },
    // Tables of an earlier version get the facts that they lack.
    async find(read) {
      let isNew = false;
      const { position, views } = await read(async () => {
        isNew = true;
        return headBefore(database, head, { ...nothing, details: await earlierDetails(database, tables) });
      });
      if (!isNew) return position;
      // A head that is written says that these are not, or no longer, the facts of an earlier version.
      if (views === 'rebuilding') {
        options.onRebuild?.('the facts of an earlier version are being taken over');
        await takeOverEarlierFacts({ database, tables, fault, log, insert: writer.insert });
      } else await writer.advance(position);
      return position;
    },
    async forget(to) {
      memory.clear();
      // Above everything that counts, also where the clock has gone back since.
      version = Math.max(version, to.details, await readVersion(database, tables));
      await askAgainAbove({ database, tables, asksForTokens: vm !== 'move', nextVersion, fault }, to.height);
    },
  });
  const { store, exclusive, writing } = writer;

  const compact = createCompactor({ database, tables, views: compacted, name: 'nft', log });

  const insertAll = async (rows: readonly TableRows[]): Promise<void> => {
    for (const [name, lines] of rows) await writer.insert(name, lines);
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

  /**
   * Writes the facts of a part of a batch, and what follows from them.
   *
   * @param before the version of the last details before it.
   * @returns the version of the last details that count with it, and whether collections with a name are among them.
   */
  const writePart = async (
    blocks: readonly NftBlock[],
    before: number,
    isWhole: boolean,
  ): Promise<{ readonly details: number; readonly isNamed: boolean }> => {
    const known = await memory.know(blocks);
    const batch = emptyBatch();
    const slice = createSlices();
    for (const [object, token] of known.learnt)
      batch.objects.push({ object, ...token, at: placeOf(blocks[0]?.height ?? 0, 0) });
    for (const block of blocks) {
      await addBlock(batch, known, block, vm, slice);
    }
    const details = batch.origins.size === 0 ? before : nextVersion();
    await insertAll(factRows(batch, details));
    const named = await namedIn(batch, known);
    const viewVersion = database.nextVersion();
    await writer.writeViews(
      [...tokenRows(batch, viewVersion), ...collectionRows(named, viewVersion)],
      isWhole,
    );
    memory.keep(known);
    return { details, isNamed: named.length > 0 };
  };

  const writeSome = async (blocks: readonly NftBlock[]): Promise<void> => {
    const parts = partsOf(blocks);
    let { details } = store.position;
    let isNamed = false;
    for (const part of parts) {
      const written = await writePart(part, details, parts.length === 1);
      details = written.details;
      isNamed ||= written.isNamed;
    }
    await writer.insert(
      'blocks',
      blocks.map(({ height, hash, parent_hash }) => JSON.stringify({ height, hash, parent_hash })),
    );
    const { height, hash } = blocks.at(-1) as NftBlock;
    await writer.advance({ height, hash, details });
    await fault('written');
    options.head.advance(store.position);
    // Blocks themselves name collections on Move, and tell when they were created.
    if (isNamed) options.head.learn();
    await compact();
  };

  /** Writes what the node said: the facts, what follows from them, and that it counts. */
  const writeFactsOfDetails = async (details: Details): Promise<void> => {
    const facts = nextVersion();
    await insertAll(detailFacts(details, facts));
    const origins = await lookUpOrigins(
      database,
      tables,
      details.names.map(({ collection }) => collection),
    );
    const named = details.names.flatMap((name) => {
      const origin = origins.get(name.collection);
      return origin === undefined ? [] : [{ origin, before: undefined, name }];
    });
    await writer.writeViews(collectionRows(named, database.nextVersion()));
    await writer.advance({ ...store.position, details: facts });
  };

  return Object.assign(store, {
    writeBlocks: (blocks: readonly NftBlock[]) =>
      exclusive(() =>
        writing(async () => {
          const events = { most: eventsAtOnce, of: (block: NftBlock) => block.events.length };
          const characters = {
            most: charactersAtOnce,
            of: (block: NftBlock) => block.events.reduce((sum, event) => sum + charactersOf(event), 0),
          };
          for (const some of chunks(blocks, atMost(blocksAtOnce), events, characters)) {
            checkFollows(store.position, some);
            await writeSome(some);
          }
        }),
      ),
    writeDetails: (details: Details, of: number) =>
      exclusive(async () => {
        // Blocks recover the tables when they come; details may come where no block does.
        if (of === store.revision) await writer.mend();
        if (!writer.isClean || of !== store.revision) return false;
        if (details.names.length + details.uris.length > 0) await writing(() => writeFactsOfDetails(details));
        await insertAll(queueRows(details, nextVersion()));
        await database.confirm();
        options.head.learn();
        return true;
      }),
  });
}
