import { join } from 'node:path';
import { readMigrations } from '../common/clickhouse/migrate.js';
import type { ConsumerTables, TablesOptions } from '../common/consumer-service.js';
import { packageRoot } from '../common/paths.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { onlyInUse } from '../common/writer-health.js';
import type { RichlistConfig } from './config.js';
import { ingest } from './ingest/ingest.js';
import { createNaming } from './ingest/names.js';
import { writerOptions } from './ingest/writer.js';
import { createRichlistIndex } from './open.js';
import { lookOf } from './read/look.js';
import type { Reader } from './read/reader.js';

/** Everything that is opened on one generation of the richlist service's tables. */
export type RichlistTables = ConsumerTables<Reader>;

/** The richlist service as one whose tables can be rebuilt. */
export function rebuildableRichlist(
  options: TablesOptions<RichlistConfig>,
): RebuildableService<RichlistTables> {
  const { config } = options;
  return {
    name: 'richlist',
    base: { database: `${config.CLICKHOUSE_DATABASE}_richlist`, cluster: config.CLICKHOUSE_CLUSTER },
    migrations: readMigrations(join(packageRoot, 'services/richlist/schema')),
    open: (opened) => openRichlistTables(options, opened),
  };
}

function openRichlistTables(
  options: TablesOptions<RichlistConfig>,
  opened: OpenOptions<RichlistTables>,
): RichlistTables {
  const { config, blocks, rest, jsonRpc, log, metrics } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const index = createRichlistIndex(database, target);
  const { tables, head } = index;
  const look = lookOf(database, tables, head);
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
  let hindrance = 'the block service has not answered yet';
  const follow = (): Promise<void> =>
    ingest({
      name: () => (isInUse() ? 'richlist' : 'richlist_rebuild'),
      database: writer,
      ...{ config, blocks, store, tables, jsonRpc, log, metrics, signal },
      health: onlyInUse(options.health, isInUse),
      nameTokens: createNaming({
        ...{ rest, log, metrics, signal },
        ...{ patience_ms: config.NODE_TIMEOUT_MS * 3, pause_ms: 0 },
      }),
      onHindrance: (reason) => {
        hindrance = reason;
      },
    });
  return {
    reader: config.ROLE === 'serve' ? { ...index.reader, look } : index.reader,
    // On other rollups it has nothing to do but to say so.
    hindrance: () => (config.VM_TYPE === 'evm' ? hindrance || seeding || rebuilding : ''),
    get tip() {
      const { height, hash } = head.position;
      return { height, hash, tracks: {} };
    },
    get revision() {
      return head.revision;
    },
    reviseAbove: (revision) => head.reviseAbove(revision),
    ring: () => head.bell.ring(),
    look,
    ingest: () => (config.VM_TYPE === 'evm' ? follow() : Promise.resolve()),
    hold: (work) => store.hold(work),
    // On other rollups there are no blocks here, and the tables are never said to be whole.
    compareViews: () => (config.VM_TYPE === 'evm' ? store.compareViews() : (async function* () {})()),
    hashes: (from, to) => store.hashes(from, to),
  };
}
