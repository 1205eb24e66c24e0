import { createBlockFollower, nameOf } from '../common/consumer/follow-blocks.js';
import { lookOf } from '../common/consumer/look.js';
import { type ConsumerTables, rebuildable, type TablesOptions } from '../common/consumer/service.js';
import { pageBoundOf } from '../common/page/fit.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { openFactFiles } from '../common/util/fact-files.js';
import { factsOf } from '../common/writer/head-table.js';
import type { TxConfig } from './config.js';
import { decodeBlock } from './decode/block.js';
import type { DecodedBlock, DecodeOptions } from './decode/types.js';
import { askEarlierFirst, resolveStoresFrom } from './ingest/stores.js';
import { followTraces } from './ingest/traces.js';
import { createReader, type Reader, takeOver } from './read/reader.js';
import { createHead } from './store/cursor.js';
import { type ResolveStores, readOwners } from './store/owners.js';
import { createTxStore } from './store/store.js';
import { headOf, tablesOf } from './store/tables.js';

/** Everything that is opened on one generation of the tx service's tables. */
export type TxTables = ConsumerTables<Reader>;

/** Queries of a kind that run at once: what waits meanwhile becomes one query, which costs less than several. */
const [atOnceEmbedded, atOnceServer] = [2, 4];

/** The tx service as one whose tables can be rebuilt. */
export const rebuildableTx = (options: TablesOptions<TxConfig>): RebuildableService<TxTables> =>
  rebuildable('tx', options.config, (opened) => openTxTables(options, opened));

function openTxTables(options: TablesOptions<TxConfig>, opened: OpenOptions<TxTables>): TxTables {
  const { config, blocks, rest, log, metrics } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const [tables, head, name] = [tablesOf(target), createHead(), nameOf('tx', isInUse)];
  const look = lookOf(database, headOf(tables), head);
  const facts = factsOf(database, headOf(tables), head);
  const files = openFactFiles(config, 'tx', () => (isInUse() ? facts() : ''), { log, metrics, signal });
  const reader = createReader({
    database,
    tables,
    head,
    cacheBytes: config.BODY_CACHE_MB * 1024 * 1024,
    page: pageBoundOf('tx', config.PAGE_MB, metrics),
    atOnce: config.CLICKHOUSE_URL === '' ? atOnceEmbedded : atOnceServer,
    files,
    writesToo: config.ROLE !== 'serve',
    writtenEnds: () => store.ends,
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
    head,
    log,
    fault: options.fault,
    resolveStores: askEarlierFirst(
      earlier,
      rest.urls.length === 0 ? undefined : resolveStoresFrom(rest, signal),
    ),
    onWritten: (written) => takeOver(reader, written),
    onCut({ hash }) {
      metrics.limits.inc({ service: name(), limit: 'ACCOUNTS_PER_TX' });
      log.warn({ hash }, 'a tx names more accounts or stores than it is listed under (ACCOUNTS_PER_TX)');
    },
  });
  const vm = config.VM_TYPE;
  const decoding: DecodeOptions = {
    vm,
    account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    accounts_per_tx: config.ACCOUNTS_PER_TX,
  };
  const follower = createBlockFollower({
    ...options,
    ...{ name, isInUse, signal, store },
    decode(block, material) {
      const decoded = decodeBlock(block, material, decoding);
      if (decoded.problems.length > 0) {
        metrics.problems.inc({ service: name(), kind: 'decode' }, decoded.problems.length);
        log.warn({ height: block.height, problems: decoded.problems }, 'parts of a block could not be read');
      }
      return decoded;
    },
    onWritten: (written: readonly DecodedBlock[]) =>
      metrics.txs.inc(
        { service: name() },
        written.reduce((sum, { txs }) => sum + txs.length, 0),
      ),
    beside: async (health) => {
      if (vm === 'evm') await followTraces({ name, blocks, store, head, log, metrics, health, signal });
    },
  });
  return {
    ...{ reader, head, store, look },
    ...follower,
    tracks: () => ({ internal_txs: head.position.internal_height }),
  };
}
