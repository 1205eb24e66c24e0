import { join } from 'node:path';
import { readMigrations } from '../common/clickhouse/migrate.js';
import type { ConsumerTables, TablesOptions } from '../common/consumer-service.js';
import { pageBoundOf } from '../common/page/fit.js';
import { packageRoot } from '../common/paths.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { onlyInUse } from '../common/writer-health.js';
import type { TxConfig } from './config.js';
import { ingest } from './ingest/ingest.js';
import { askEarlierFirst, resolveStoresFrom } from './ingest/stores.js';
import { createHead } from './read/head.js';
import { lookOf } from './read/look.js';
import { createReader, type Reader } from './read/reader.js';
import { takeOver, takeOverRecovered } from './read/take-over.js';
import { type ResolveStores, readOwners } from './store/owners.js';
import { createTxStore } from './store/store.js';
import { tablesOf } from './store/tables.js';

/** Everything that is opened on one generation of the tx service's tables. */
export type TxTables = ConsumerTables<Reader>;

/** Queries of a kind that run at once: the embedded engine takes one at a time, a server many. */
const [atOnceEmbedded, atOnceServer] = [1, 4];

/** The tx service as one whose tables can be rebuilt. */
export function rebuildableTx(options: TablesOptions<TxConfig>): RebuildableService<TxTables> {
  const { config } = options;
  return {
    name: 'tx',
    base: { database: `${config.CLICKHOUSE_DATABASE}_tx`, cluster: config.CLICKHOUSE_CLUSTER },
    migrations: readMigrations(join(packageRoot, 'services/tx/schema')),
    open: (opened) => openTxTables(options, opened),
  };
}

function openTxTables(options: TablesOptions<TxConfig>, opened: OpenOptions<TxTables>): TxTables {
  const { config, blocks, rest, log, metrics, health } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const [tables, head] = [tablesOf(target), createHead()];
  const look = lookOf(database, tables, head);
  const reader = createReader({
    database,
    tables,
    head,
    cacheBytes: config.BODY_CACHE_MB * 1024 * 1024,
    page: pageBoundOf('tx', config.PAGE_MB, metrics),
    atOnce: config.CLICKHOUSE_URL === '' ? atOnceEmbedded : atOnceServer,
    writesToo: config.ROLE !== 'serve',
    look: config.ROLE === 'serve' ? look : undefined,
  });
  const earlier = (): ResolveStores | undefined => {
    if (isInUse()) return undefined;
    const { tables: used } = opened.inUse().reader;
    return (stores) => readOwners(writer, used, stores);
  };
  const store = createTxStore({
    database: writer,
    target,
    log,
    fault: options.fault,
    resolveStores: askEarlierFirst(
      earlier,
      rest.urls.length === 0 ? undefined : resolveStoresFrom(rest, signal),
    ),
    onWritten: (written) => takeOver(reader, head, written),
    onRecovered: (position) => takeOverRecovered(head, position),
    onUnwind: (position) => head.cutTo(position),
    onRepairs: head.takeRepairs,
  });
  let hindrance = 'the block service has not answered yet';
  return {
    reader,
    hindrance: () => hindrance,
    get tip() {
      const { height, hash, internal_height } = head.position;
      return { height, hash, tracks: { internal_txs: internal_height } };
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
        name: () => (isInUse() ? 'tx' : 'tx_rebuild'),
        blocks,
        store,
        head,
        log,
        metrics,
        health: onlyInUse(health, isInUse),
        signal,
        onHindrance: (reason) => {
          hindrance = reason;
        },
      }),
    hold: (work) => store.hold(work),
    compareViews: () => store.compareViews(),
    hashes: (from, to) => store.hashes(from, to),
  };
}
