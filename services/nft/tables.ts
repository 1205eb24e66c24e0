import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { createBlockFollower, decodeAndTell, nameOf } from '../common/consumer/follow-blocks.js';
import { lookOf } from '../common/consumer/look.js';
import { type ConsumerTables, rebuildable, type TablesOptions } from '../common/consumer/service.js';
import { defaultPage, pageBoundOf } from '../common/page/fit.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { callRpc } from '../common/rpc/client.js';
import { createProblemLog, type DecodeProblem } from '../common/runtime/log.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import type { NftConfig } from './config.js';
import { decodeBlock } from './decode/block.js';
import { earlierIn } from './enrich/earlier.js';
import { evmSource } from './enrich/evm.js';
import { followDetails } from './enrich/follow.js';
import { moveSource } from './enrich/move.js';
import { resolveObjectsFrom } from './enrich/objects.js';
import { retryFailed } from './enrich/queue.js';
import { createRangePlanner } from './enrich/ranges.js';
import type { DetailSource } from './enrich/source.js';
import { wasmSource } from './enrich/wasm.js';
import type { Reader } from './read/reader.js';
import { createShownMemory } from './read/shown.js';
import { createHead, type Head } from './store/cursor.js';
import { createNftStore, type NftStore, type StoreOptions } from './store/store.js';
import { headOf, type Tables, tablesOf } from './store/tables.js';

/** Everything that is opened on one generation of the nft service's tables. */
export interface NftTables extends ConsumerTables<Reader> {
  /** Asks again for details that were given up, of one collection or of all ('') and says for how many. */
  retryDetails(collection: string): Promise<number>;
}

/** The nft service as one whose tables can be rebuilt. */
export const rebuildableNft = (options: TablesOptions<NftConfig>): RebuildableService<NftTables> =>
  rebuildable('nft', options.config, (opened) => openNftTables(options, opened));

function openNftTables(options: TablesOptions<NftConfig>, opened: OpenOptions<NftTables>): NftTables {
  const { config, blocks, rest, log, metrics, fault } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const vm = config.VM_TYPE;
  const index = createNftIndex(database, target, pageBoundOf('nft', config.PAGE_MB, metrics));
  const { tables, head, look } = index;
  const earlier = () => (isInUse() ? undefined : earlierIn({ ...opened.inUse().reader, database: writer }));
  const beginsLate = async (): Promise<boolean> =>
    (await callRpc(blocks.getStatus.bind(blocks), {}, { deadline: Date.now() + 5_000, signal }))
      .first_height > 1;
  const store = index.openStore(
    {
      vm,
      log,
      fault,
      onRebuild: (progress) => {
        rebuilding = progress;
      },
      resolveObjects: vm === 'move' ? resolveObjectsFrom(rest, log, signal, beginsLate, earlier) : undefined,
    },
    writer,
  );
  let rebuilding = '';
  let asked = { height: 0, generation: -1 };
  const rollup = { vm, account_prefix: config.ACCOUNT_ADDRESS_PREFIX, limits: config };
  const problemLog = createProblemLog({
    ...{ service: 'nft', kind: 'details', log, metrics },
    message: 'a detail of an NFT was not kept as a whole',
  });
  const report = (problem: DecodeProblem): void => problemLog(head.position.height, [problem]);
  const now = Date.now;
  const { ingest, hindrance } = createBlockFollower({
    ...options,
    ...{ name: nameOf('nft', isInUse), isInUse, signal, store },
    decode: decodeAndTell((block, material) => decodeBlock(block, material, rollup), {
      ...{ service: 'nft', kind: 'decode', log, metrics },
      message: 'an event of an NFT could not be read, or not as a whole',
    }),
    beside: (health) =>
      followDetails({
        ...{ database: writer, tables, head, store, log, metrics, health, signal, earlier, report, now },
        ranges: createRangePlanner({
          ...{ database: writer, tables, now, report },
          refresh_ms: config.NFT_REFRESH_MS,
        }),
        reader: { ...index.reader, database: writer },
        source: sourceOf(options),
        onAsked: (height, generation) => {
          asked = { height, generation };
        },
        attempts: config.DETAIL_ATTEMPTS,
        limits: config,
      }),
  });
  return {
    reader: config.ROLE === 'serve' ? { ...index.reader, look } : index.reader,
    ...{ head, store, look, ingest },
    hindrance: () => hindrance() || rebuilding,
    retryDetails: (collection) => retryFailed(index, store, collection),
    tracks() {
      const { height } = head.position;
      // Not known right after a start: tables in use are taken for complete, so that others are not put in their place early.
      const unknown = isInUse() ? height : 0;
      return { details: asked.generation === store.revision ? Math.min(asked.height, height) : unknown };
    },
  };
}

/** How the node of this rollup is asked for details. */
function sourceOf({ config, rest, jsonRpc }: TablesOptions<NftConfig>): DetailSource {
  if (config.VM_TYPE === 'evm') return evmSource(jsonRpc, config);
  return config.VM_TYPE === 'move' ? moveSource(rest) : wasmSource(rest, config.ACCOUNT_ADDRESS_PREFIX);
}

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<StoreOptions, 'database' | 'target' | 'head'>;

/** The NFTs in one database: the same service can have two of them side by side. */
export interface NftIndex {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  readonly reader: Reader;
  /** Takes over how far another process has written it. */
  readonly look: () => Promise<void>;
  /**
   * Opens it for writing; the head then moves with what is written.
   *
   * @param writer another way to the same database, for everything that writing needs.
   */
  openStore(options: WriterOptions, writer?: FencedDatabase): NftStore;
}

/** Opens the NFTs of a target as far as they are; its tables must have been migrated. */
export async function openNftIndex(database: Database, target: Target): Promise<NftIndex> {
  const index = createNftIndex(database, target);
  await index.look();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createNftIndex(database: Database, target: Target, page = defaultPage): NftIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  let known = 0;
  return {
    database,
    tables,
    head,
    reader: { database, tables, head, shown: createShownMemory(), page },
    look: lookOf(database, headOf(tables), head, ({ details }) => {
      // More was learnt of collections and tokens that are shown already.
      if (details !== known) head.learn();
      known = details;
    }),
    openStore: (options, writer = soleWriter(database)) =>
      createNftStore({ ...options, database: writer, target, head }),
  };
}
