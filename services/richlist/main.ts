import { setMaxListeners } from 'node:events';
import { createEndpoints } from '../common/chain/endpoints.js';
import type { Database } from '../common/clickhouse/database.js';
import { measured, openDatabase } from '../common/clickhouse/open.js';
import { loadSettings } from '../common/config.js';
import type { FaultPoint } from '../common/fault.js';
import { BlockServiceClient } from '../common/gen/indexer/block/v1/block.js';
import { runUntilSignal, type Stoppable, stopAll } from '../common/lifecycle.js';
import { hostPort } from '../common/listen.js';
import { createLog, type Log } from '../common/log.js';
import { createMetrics, type Metrics } from '../common/metrics.js';
import { type Readiness, serveOps } from '../common/ops.js';
import { isMainModule } from '../common/paths.js';
import { startOnceReachable } from '../common/reachable.js';
import { openGenerations } from '../common/reindex/open.js';
import { reindexService } from '../common/reindex/rpc.js';
import { connectRpc } from '../common/rpc/client.js';
import { type ServedService, serveRpc } from '../common/rpc/server.js';
import { checkRichlist, type RichlistConfig, richlistSettings } from './config.js';
import { rebuildableRichlist } from './generation.js';
import { richlistService } from './rpc.js';

export interface RichlistDependencies {
  /** A client of the block service; default: one of BLOCK_SERVICE_ADDR. */
  readonly blocks?: BlockServiceClient;
  readonly config: RichlistConfig;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What gRPC listens on. */
  readonly addresses: readonly string[];
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** A running richlist service. */
export interface RichlistProcess extends Stoppable {
  /** For callers in the same process. */
  readonly service: ServedService;
  readonly address: string;
  /** Whether it does its work, and if not, why. */
  readonly readiness: Readiness;
}

/** Starts the richlist service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export async function startRichlist(dependencies: RichlistDependencies): Promise<RichlistProcess> {
  const { config, metrics, fault } = dependencies;
  const log = dependencies.log.child({ service: 'richlist' });
  const database = measured(dependencies.database, 'richlist', metrics);
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // every request under way listens to it
  const endpoints = {
    log,
    metrics,
    timeout_ms: config.NODE_TIMEOUT_MS,
    connections: config.SEED_CONCURRENCY,
  };
  const rest = createEndpoints('rest', config.REST_URL, endpoints);
  const jsonRpc = createEndpoints('jsonrpc', config.JSON_RPC_URL, endpoints);
  const blocks = dependencies.blocks ?? connectRpc(BlockServiceClient, config.BLOCK_SERVICE_ADDR);
  const ingests = config.ROLE !== 'serve';
  let lookHindrance = 'the tables have not been looked at yet';
  const generations = await openGenerations({
    service: rebuildableRichlist({ config, blocks, rest, jsonRpc, log, metrics, fault }),
    database,
    log,
    metrics,
    ingests,
    percent: config.REINDEX_PERCENT,
    keep_ms: config.REINDEX_KEEP_MS,
    signal,
    onLook: (reason) => {
      lookHindrance = reason;
    },
    fault,
  }).catch(async (error: unknown) => {
    stopping.abort();
    if (dependencies.blocks === undefined) blocks.close();
    await Promise.all([rest.close(), jsonRpc.close()]);
    throw error;
  });
  const hindrance = (): string => (ingests ? generations.current().hindrance() : lookHindrance);
  const service = richlistService({
    log,
    metrics,
    reader: () => generations.current().reader,
    vm_type: config.VM_TYPE,
    account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    stopping: signal,
  });
  const reindex = reindexService({ log, metrics, reindexer: generations.reindexer });
  const server = await serveRpc([service, reindex], dependencies.addresses);
  const work = generations.run();
  server.setServing(true);
  return {
    address: server.address,
    service,
    readiness: () => ({ ready: hindrance() === '', reason: hindrance() }),
    // In reverse: the indexer ends its batch, then running calls get their answers.
    stop: stopAll([
      async () => blocks.close(),
      () => Promise.all([rest.close(), jsonRpc.close()]),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await work;
      },
    ]),
  };
}

/** Runs the richlist service alone. */
async function main(): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, async (signal) => {
    const config = loadSettings(richlistSettings, process.env, checkRichlist);
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    let richlist: RichlistProcess | undefined;
    let reason = 'the database has not answered yet';
    const ops = await serveOps(
      config.HOST,
      config.OPS_PORT,
      metrics,
      () => richlist?.readiness() ?? { ready: false, reason },
    );
    const database = await openDatabase(config);
    const addresses = [hostPort(config.HOST, config.GRPC_PORT)];
    richlist = await startOnceReachable(() => startRichlist({ config, database, log, metrics, addresses }), {
      log,
      signal,
      onWait: (why) => {
        reason = why;
      },
    });
    log.info({ grpc: richlist.address, ops: ops.port }, 'the richlist service is up');
    const running = richlist;
    return { stop: stopAll([() => database.close(), () => ops.close(), () => running.stop()]) };
  });
}

if (isMainModule(import.meta.url)) await main();
