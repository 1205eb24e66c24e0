import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createEndpoints } from '../common/chain/endpoints.js';
import { type Database, DatabaseUnavailable } from '../common/clickhouse/database.js';
import { migrate, readMigrations } from '../common/clickhouse/migrate.js';
import { measured, openDatabase } from '../common/clickhouse/open.js';
import { loadSettings } from '../common/config.js';
import { BlockServiceClient } from '../common/gen/indexer/block/v1/block.js';
import { runUntilSignal, type Stoppable, sleep, stopAll } from '../common/lifecycle.js';
import { hostPort } from '../common/listen.js';
import { createLog, type Log } from '../common/log.js';
import { createMetrics, type Metrics } from '../common/metrics.js';
import { type Readiness, serveOps } from '../common/ops.js';
import { isMainModule, packageRoot } from '../common/paths.js';
import { connectRpc } from '../common/rpc/client.js';
import { type ServedService, serveRpc } from '../common/rpc/server.js';
import { type TxConfig, txSettings } from './config.js';
import { ingest } from './ingest/ingest.js';
import { resolveStoresFrom } from './ingest/stores.js';
import { createHead } from './read/head.js';
import { followTables, lookAtTables } from './read/poll.js';
import { createReader } from './read/reader.js';
import { takeOver, takeOverRecovered } from './read/take-over.js';
import { txService } from './rpc.js';
import type { FaultPoint } from './store/remove.js';
import { createTxStore } from './store/store.js';
import { tablesOf } from './store/tables.js';

export interface TxDependencies {
  /** A client of the block service; default: one of BLOCK_SERVICE_ADDR. */
  readonly blocks?: BlockServiceClient;
  readonly config: TxConfig;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What gRPC listens on. */
  readonly addresses: readonly string[];
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** A running tx service. */
export interface TxProcess extends Stoppable {
  /** For callers in the same process. */
  readonly service: ServedService;
  readonly address: string;
  /** Whether it does its work, and if not, why. */
  readonly readiness: Readiness;
}

/** Queries of a kind that run at once: the embedded engine takes one at a time, a server many. */
const [atOnceEmbedded, atOnceServer] = [1, 4];

/** Starts the tx service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export async function startTx(dependencies: TxDependencies): Promise<TxProcess> {
  const { config, metrics } = dependencies;
  const log = dependencies.log.child({ service: 'tx' });
  const database = measured(dependencies.database, 'tx', metrics);
  const target = { database: `${config.CLICKHOUSE_DATABASE}_tx`, cluster: config.CLICKHOUSE_CLUSTER };
  await migrate(database, readMigrations(join(packageRoot, 'services/tx/schema')), target);

  const [tables, head, stopping] = [tablesOf(target), createHead(), new AbortController()];
  const reader = createReader({
    database,
    tables,
    head,
    cacheBytes: config.BODY_CACHE_MB * 1024 * 1024,
    atOnce: config.CLICKHOUSE_URL === '' ? atOnceEmbedded : atOnceServer,
    writesToo: config.ROLE !== 'serve',
  });
  await lookAtTables(database, tables, head);
  const service = txService({
    log,
    metrics,
    reader,
    vm_type: config.VM_TYPE,
    account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    stopping: stopping.signal,
  });
  const server = await serveRpc([service], dependencies.addresses);

  let hindrance = 'the block service has not answered yet';
  const onHindrance = (reason: string): void => {
    hindrance = reason;
  };
  const blocks = dependencies.blocks ?? connectRpc(BlockServiceClient, config.BLOCK_SERVICE_ADDR);
  const { signal } = stopping;
  setMaxListeners(0, signal); // every request under way listens to it
  const rest = createEndpoints('rest', config.VM_TYPE === 'move' ? config.REST_URL : [], {
    log,
    metrics,
    timeout_ms: config.NODE_TIMEOUT_MS,
    connections: 8,
  });
  const store = createTxStore({
    database,
    target,
    log,
    fault: dependencies.fault,
    resolveStores: rest.urls.length === 0 ? undefined : resolveStoresFrom(rest, signal),
    onWritten: (written) => takeOver(reader, head, written),
    onRecovered: (position) => takeOverRecovered(head, position),
    onUnwind: (position) => head.cutTo(position),
  });
  const work =
    config.ROLE === 'serve'
      ? followTables(database, tables, head, log, signal, onHindrance)
      : ingest({ config, blocks, store, head, log, metrics, signal, onHindrance });
  server.setServing(true);
  return {
    address: server.address,
    service,
    readiness: () => ({ ready: hindrance === '', reason: hindrance }),
    // In reverse: the indexer ends its batch, then running calls get their answers.
    stop: stopAll([
      async () => blocks.close(),
      () => rest.close(),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await work;
      },
    ]),
  };
}

/** How long to wait for a database that does not answer, in milliseconds. */
const databaseWait_ms = 1_000;

/** Starts, and starts again while the database does not answer. */
async function startOnceReachable(
  dependencies: TxDependencies,
  signal: AbortSignal,
  onWait: (reason: string) => void,
): Promise<TxProcess> {
  for (;;) {
    try {
      return await startTx(dependencies);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || signal.aborted) throw error;
      onWait(error.message);
      dependencies.log.warn(`waiting for the database: ${error.message}`);
      await sleep(databaseWait_ms, signal);
    }
  }
}

/** Runs the tx service alone. */
async function main(): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, async (signal) => {
    const config = loadSettings(txSettings, process.env);
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    let tx: TxProcess | undefined;
    let reason = 'the database has not answered yet';
    const ops = await serveOps(
      config.HOST,
      config.OPS_PORT,
      metrics,
      () => tx?.readiness() ?? { ready: false, reason },
    );
    const database = await openDatabase(config);
    const addresses = [hostPort(config.HOST, config.GRPC_PORT)];
    tx = await startOnceReachable({ config, database, log, metrics, addresses }, signal, (why) => {
      reason = why;
    });
    log.info({ grpc: tx.address, ops: ops.port }, 'the tx service is up');
    const running = tx;
    return { stop: stopAll([() => database.close(), () => ops.close(), () => running.stop()]) };
  });
}

if (isMainModule(import.meta.url)) await main();
