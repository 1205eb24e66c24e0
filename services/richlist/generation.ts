import { type ConsumerTables, rebuildable, type TablesOptions } from '../common/consumer-service.js';
import { decodeAndTell } from '../common/decode-blocks.js';
import { createBlockFollower, nameOf } from '../common/follow-blocks.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { callRpc } from '../common/rpc/client.js';
import type { ComparedPart } from '../common/writer/views.js';
import type { RichlistConfig } from './config.js';
import { decodeBlock } from './decode/block.js';
import { createNaming } from './ingest/names.js';
import { reconcile } from './ingest/reconcile.js';
import { writerOptions } from './ingest/writer.js';
import { createRichlistIndex } from './open.js';
import type { Reader } from './read/reader.js';

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
