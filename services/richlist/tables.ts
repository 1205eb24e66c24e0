import type { Database } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { createBlockFollower, decodeAndTell, nameOf } from '../common/consumer/follow-blocks.js';
import { lookOf } from '../common/consumer/look.js';
import { type ConsumerTables, rebuildable, type TablesOptions } from '../common/consumer/service.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { callRpc } from '../common/rpc/client.js';
import { type FencedDatabase, soleWriter } from '../common/writer/fence.js';
import type { ComparedPart } from '../common/writer/views.js';
import type { RichlistConfig } from './config.js';
import { decodeBlock } from './decode/block.js';
import { createNaming } from './ingest/names.js';
import { reconcile } from './ingest/reconcile.js';
import { writerOptions } from './ingest/writer.js';
import type { Reader } from './read/reader.js';
import { createHead, type Head } from './store/cursor.js';
import { createRichlistStore, type RichlistStore, type StoreOptions } from './store/store.js';
import { headOf, type Tables, tablesOf } from './store/tables.js';

/** Everything that is opened on one generation of the richlist service's tables. */
export type RichlistTables = ConsumerTables<Reader>;

/** The richlist service as one whose tables can be rebuilt. */
export const rebuildableRichlist = (
  options: TablesOptions<RichlistConfig>,
): RebuildableService<RichlistTables> =>
  rebuildable('richlist', options.config, (opened) => openRichlistTables(options, opened));

/** There is nothing to compare where nothing is ever written. */
async function* noViews(): AsyncGenerator<ComparedPart, void, undefined> {}

function openRichlistTables(
  options: TablesOptions<RichlistConfig>,
  opened: OpenOptions<RichlistTables>,
): RichlistTables {
  const { config, blocks, rest, jsonRpc, log, metrics } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const index = createRichlistIndex(database, target);
  const { tables, head, look } = index;
  const earlier = () => (isInUse() ? undefined : { ...opened.inUse().reader, database: writer });
  let [seeding, rebuilding] = ['', ''];
  const onSeeding = (progress: string): void => {
    seeding = progress;
  };
  const store = index.openStore(
    {
      ...writerOptions({ ...options, signal, earlier, onSeeding }),
      onRebuild: (progress) => {
        rebuilding = progress;
      },
    },
    writer,
  );
  const { ingest, hindrance } = createBlockFollower({
    ...options,
    ...{ name: nameOf('richlist', isInUse), isInUse, signal, store },
    decode: decodeAndTell(decodeBlock, {
      ...{ service: 'richlist', kind: 'log', log, metrics },
      message: 'a Transfer log or a part of a block could not be read',
    }),
    beside: (health) =>
      reconcile({
        ...{ config, store, database: writer, tables, jsonRpc, log, metrics, health, signal },
        // It has more patience than the blocks have.
        nameTokens: createNaming({
          ...{ rest, log, metrics, signal },
          ...{ patience_ms: config.NODE_TIMEOUT_MS * 3, pause_ms: 0 },
        }),
        headHeight: async () =>
          (await callRpc(blocks.getStatus.bind(blocks), {}, { deadline: Date.now() + 5_000, signal })).height,
      }),
  });
  // On other rollups it has nothing to do but to say so.
  const isEvm = config.VM_TYPE === 'evm';
  return {
    reader: config.ROLE === 'serve' ? { ...index.reader, look } : index.reader,
    ...{ head, look },
    store: isEvm ? store : { hold: store.hold, hashes: store.hashes, compareViews: noViews },
    hindrance: () => (isEvm ? hindrance() || seeding || rebuilding : ''),
    tracks: () => ({}),
    ingest: () => (isEvm ? ingest() : Promise.resolve()),
  };
}

/** What the writer needs besides the tables. */
export type WriterOptions = Omit<StoreOptions, 'database' | 'target' | 'head'>;

/** The rich list in one database: the same service can have two of them side by side. */
export interface RichlistIndex {
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
  openStore(options: WriterOptions, writer?: FencedDatabase): RichlistStore;
}

/** Opens the rich list of a target as far as it is; its tables must have been migrated. */
export async function openRichlistIndex(database: Database, target: Target): Promise<RichlistIndex> {
  const index = createRichlistIndex(database, target);
  await index.look();
  return index;
}

/** The same before anybody has looked at the tables. */
export function createRichlistIndex(database: Database, target: Target): RichlistIndex {
  const [tables, head] = [tablesOf(target), createHead()];
  return {
    tables,
    head,
    reader: { database, tables, head },
    look: lookOf(database, headOf(tables), head),
    openStore: (options, writer = soleWriter(database)) =>
      createRichlistStore({ ...options, database: writer, target, head }),
  };
}
