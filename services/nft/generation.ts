import { join } from 'node:path';
import { readMigrations } from '../common/clickhouse/migrate.js';
import type { ConsumerTables, TablesOptions } from '../common/consumer-service.js';
import { pageBoundOf } from '../common/page/fit.js';
import { packageRoot } from '../common/paths.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { callRpc } from '../common/rpc/client.js';
import { onlyInUse } from '../common/writer-health.js';
import type { NftConfig } from './config.js';
import { earlierIn } from './enrich/earlier.js';
import { evmSource } from './enrich/evm.js';
import { moveSource } from './enrich/move.js';
import { resolveObjectsFrom } from './enrich/objects.js';
import { retryFailed } from './enrich/retry.js';
import type { DetailSource } from './enrich/source.js';
import { wasmSource } from './enrich/wasm.js';
import { createNftIndex } from './index.js';
import { ingest } from './ingest/ingest.js';
import { lookOf } from './read/look.js';
import type { Reader } from './read/reader.js';

/** Everything that is opened on one generation of the nft service's tables. */
export interface NftTables extends ConsumerTables<Reader> {
  /** Asks again for details that were given up, of one collection or of all ('') and says for how many. */
  retryDetails(collection: string): Promise<number>;
}

/** The nft service as one whose tables can be rebuilt. */
export function rebuildableNft(options: TablesOptions<NftConfig>): RebuildableService<NftTables> {
  const { config } = options;
  return {
    name: 'nft',
    base: { database: `${config.CLICKHOUSE_DATABASE}_nft`, cluster: config.CLICKHOUSE_CLUSTER },
    migrations: readMigrations(join(packageRoot, 'services/nft/schema')),
    open: (opened) => openNftTables(options, opened),
  };
}

function openNftTables(options: TablesOptions<NftConfig>, opened: OpenOptions<NftTables>): NftTables {
  const { config, blocks, rest, log, metrics, fault } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const vm = config.VM_TYPE;
  const index = createNftIndex(database, target, pageBoundOf('nft', config.PAGE_MB, metrics));
  const { head } = index;
  const look = lookOf(database, index.tables, head);
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
  let [hindrance, rebuilding] = ['the block service has not answered yet', ''];
  let asked = { height: 0, generation: -1 };
  return {
    reader: config.ROLE === 'serve' ? { ...index.reader, look } : index.reader,
    hindrance: () => hindrance || rebuilding,
    retryDetails: (collection) => retryFailed(index, store, collection),
    get tip() {
      const { height, hash } = head.position;
      // Not known right after a start: tables in use are taken for complete, so that others are not put in their place early.
      const unknown = isInUse() ? height : 0;
      const details = asked.generation === store.generation ? Math.min(asked.height, height) : unknown;
      return { height, hash, tracks: { details } };
    },
    get revision() {
      return head.revision;
    },
    reviseAbove: (revision) => head.reviseAbove(revision),
    ring: () => head.bell.ring(),
    look,
    ingest: () =>
      ingest({
        config,
        database: writer,
        name: () => (isInUse() ? 'nft' : 'nft_rebuild'),
        ...{ blocks, index, store, source: sourceOf(options), earlier, log, metrics, signal },
        health: onlyInUse(options.health, isInUse),
        onAsked: (height, generation) => {
          asked = { height, generation };
        },
        onHindrance: (reason) => {
          hindrance = reason;
        },
      }),
    hold: (work) => store.hold(work),
    compareViews: () => store.compareViews(),
    hashes: (from, to) => store.hashes(from, to),
  };
}

/** How the node of this rollup is asked for details. */
function sourceOf({ config, rest, jsonRpc }: TablesOptions<NftConfig>): DetailSource {
  if (config.VM_TYPE === 'evm') return evmSource(jsonRpc, config);
  return config.VM_TYPE === 'move' ? moveSource(rest) : wasmSource(rest, config.ACCOUNT_ADDRESS_PREFIX);
}
