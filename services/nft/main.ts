import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createEndpoints } from '../common/chain/endpoints.js';
import { type Database, DatabaseUnavailable } from '../common/clickhouse/database.js';
import { migrate, readMigrations } from '../common/clickhouse/migrate.js';
import { measured, openDatabase } from '../common/clickhouse/open.js';
import { loadSettings } from '../common/config.js';
import { BlockServiceClient } from '../common/gen/indexer/block/v1/block.js';
import { runUntilSignal, type Stoppable, sleep, stopAll } from '../common/lifecycle.js';
import { createLog, type Log } from '../common/log.js';
import { createMetrics, type Metrics } from '../common/metrics.js';
import { type Readiness, serveOps } from '../common/ops.js';
import { isMainModule, packageRoot } from '../common/paths.js';
import { callRpc, connectRpc } from '../common/rpc/client.js';
import { type ServedService, serveRpc } from '../common/rpc/server.js';
import { type NftConfig, nftSettings } from './config.js';
import { evmSource } from './enrich/evm.js';
import { moveSource } from './enrich/move.js';
import { resolveObjectsFrom } from './enrich/objects.js';
import { retryFailed } from './enrich/retry.js';
import { wasmSource } from './enrich/wasm.js';
import { openNftIndex } from './index.js';
import { ingest } from './ingest/ingest.js';
import { followTables } from './read/poll.js';
import { nftService } from './rpc.js';
import { createShower } from './show.js';
import type { FaultPoint } from './store/remove.js';

export interface NftDependencies {
  /** A client of the block service; default: one of BLOCK_SERVICE_ADDR. */
  readonly blocks?: BlockServiceClient;
  readonly config: NftConfig;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What gRPC listens on. */
  readonly addresses: readonly string[];
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** A running nft service. */
export interface NftProcess extends Stoppable {
  /** For callers in the same process. */
  readonly service: ServedService;
  readonly address: string;
  /** Whether it does its work, and if not, why. */
  readonly readiness: Readiness;
}

/** Connections to each URL of the node. */
const connections = 8;

/** Starts the nft service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export async function startNft(dependencies: NftDependencies): Promise<NftProcess> {
  const { config, metrics } = dependencies;
  const { VM_TYPE: vm, ACCOUNT_ADDRESS_PREFIX: account_prefix } = config;
  const log = dependencies.log.child({ service: 'nft' });
  const database = measured(dependencies.database, 'nft', metrics);
  const target = { database: `${config.CLICKHOUSE_DATABASE}_nft`, cluster: config.CLICKHOUSE_CLUSTER };
  await migrate(database, readMigrations(join(packageRoot, 'services/nft/schema')), target);

  const index = await openNftIndex(database, target);
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // every request under way listens to it
  const endpointOptions = { log, metrics, timeout_ms: config.NODE_TIMEOUT_MS, connections };
  const rest = createEndpoints('rest', config.REST_URL, endpointOptions);
  const jsonRpc = createEndpoints('jsonrpc', config.JSON_RPC_URL, endpointOptions);
  const blocks = dependencies.blocks ?? connectRpc(BlockServiceClient, config.BLOCK_SERVICE_ADDR);
  const beginsLate = async (): Promise<boolean> =>
    (await callRpc(blocks.getStatus.bind(blocks), {}, { deadline: Date.now() + 5_000, signal }))
      .first_height > 1;
  const indexes = config.ROLE !== 'serve';
  const store = index.openStore({
    vm,
    log,
    fault: dependencies.fault,
    resolveObjects: vm === 'move' ? resolveObjectsFrom(rest, log, signal, beginsLate) : undefined,
  });
  const service = nftService({
    log,
    metrics,
    reader: index.reader,
    show: createShower(vm, account_prefix),
    account_prefix,
    retryDetails: indexes ? (collection) => retryFailed(index, store, collection) : undefined,
    stopping: signal,
  });
  const server = await serveRpc([service], dependencies.addresses);

  let hindrance = 'the block service has not answered yet';
  const onHindrance = (reason: string): void => {
    hindrance = reason;
  };
  const sources = {
    evm: () => evmSource(jsonRpc),
    move: () => moveSource(rest),
    wasm: () => wasmSource(rest, account_prefix),
  };
  const work = indexes
    ? ingest({ config, blocks, index, store, source: sources[vm](), log, metrics, signal, onHindrance })
    : followTables(database, index.tables, index.head, log, signal, onHindrance);
  server.setServing(true);
  return {
    address: server.address,
    service,
    readiness: () => ({ ready: hindrance === '', reason: hindrance }),
    // In reverse: the indexer ends its batch, then running calls get their answers.
    stop: stopAll([
      async () => blocks.close(),
      () => rest.close(),
      () => jsonRpc.close(),
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
  dependencies: NftDependencies,
  signal: AbortSignal,
  onWait: (reason: string) => void,
): Promise<NftProcess> {
  for (;;) {
    try {
      return await startNft(dependencies);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || signal.aborted) throw error;
      onWait(error.message);
      dependencies.log.warn(`waiting for the database: ${error.message}`);
      await sleep(databaseWait_ms, signal);
    }
  }
}

/** Runs the nft service alone. */
async function main(): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, async (signal) => {
    const config = loadSettings(nftSettings, process.env);
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    let nft: NftProcess | undefined;
    let reason = 'the database has not answered yet';
    const ops = await serveOps(
      config.HOST,
      config.OPS_PORT,
      metrics,
      () => nft?.readiness() ?? { ready: false, reason },
    );
    const database = await openDatabase(config);
    const addresses = [`${config.HOST}:${config.GRPC_PORT}`];
    nft = await startOnceReachable({ config, database, log, metrics, addresses }, signal, (why) => {
      reason = why;
    });
    log.info({ grpc: nft.address, ops: ops.port }, 'the nft service is up');
    const running = nft;
    return { stop: stopAll([() => database.close(), () => ops.close(), () => running.stop()]) };
  });
}

if (isMainModule(import.meta.url)) await main();
