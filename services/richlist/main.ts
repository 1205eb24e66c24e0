import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { createEndpoints, type Endpoints } from '../common/chain/endpoints.js';
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
import { connectRpc } from '../common/rpc/client.js';
import { type ServedService, serveRpc } from '../common/rpc/server.js';
import { checkRichlist, type RichlistConfig, richlistSettings } from './config.js';
import { ingest } from './ingest/ingest.js';
import { createNaming } from './ingest/names.js';
import { createOnce } from './ingest/once.js';
import { fetchBalances } from './node/erc20.js';
import { openSeed } from './node/seed.js';
import { openRichlistIndex, type RichlistIndex, type WriterOptions } from './open.js';
import { followTables } from './read/poll.js';
import { richlistService } from './rpc.js';
import type { FaultPoint } from './store/remove.js';

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

/** The node's interfaces that the writer asks. */
interface Node {
  readonly rest: Endpoints;
  readonly jsonRpc: Endpoints;
}

/** Starts the richlist service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export async function startRichlist(dependencies: RichlistDependencies): Promise<RichlistProcess> {
  const { config, metrics } = dependencies;
  const log = dependencies.log.child({ service: 'richlist' });
  const database = measured(dependencies.database, 'richlist', metrics);
  const target = { database: `${config.CLICKHOUSE_DATABASE}_richlist`, cluster: config.CLICKHOUSE_CLUSTER };
  await migrate(database, readMigrations(join(packageRoot, 'services/richlist/schema')), target);
  const index = await openRichlistIndex(database, target);
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // every request under way listens to it
  const service = richlistService({
    log,
    metrics,
    reader: index.reader,
    vm_type: config.VM_TYPE,
    account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    stopping: signal,
  });
  const server = await serveRpc([service], dependencies.addresses);

  let hindrance = 'the block service has not answered yet';
  const onHindrance = (reason: string): void => {
    hindrance = reason;
  };
  const blocks = dependencies.blocks ?? connectRpc(BlockServiceClient, config.BLOCK_SERVICE_ADDR);
  const endpoints = {
    log,
    metrics,
    timeout_ms: config.NODE_TIMEOUT_MS,
    connections: config.SEED_CONCURRENCY,
  };
  const node: Node = {
    rest: createEndpoints('rest', config.REST_URL, endpoints),
    jsonRpc: createEndpoints('jsonrpc', config.JSON_RPC_URL, endpoints),
  };
  const work = (): Promise<void> => {
    if (config.VM_TYPE !== 'evm') {
      onHindrance(''); // it has nothing to do but to say so
      return Promise.resolve();
    }
    if (config.ROLE === 'serve')
      return followTables(database, index.tables, index.head, log, signal, onHindrance);
    return runIngest({ ...dependencies, log }, database, index, node, blocks, signal, onHindrance);
  };
  const running = work();
  server.setServing(true);
  return {
    address: server.address,
    service,
    readiness: () => ({ ready: hindrance === '', reason: hindrance }),
    // In reverse: the indexer ends its batch, then running calls get their answers.
    stop: stopAll([
      async () => blocks.close(),
      () => Promise.all([node.rest.close(), node.jsonRpc.close()]),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await running;
      },
    ]),
  };
}

/** How long the blocks wait for the denoms of new tokens, and how long not after a failure, in milliseconds. */
const [namePatience_ms, namePause_ms] = [2_000, 30_000];

function runIngest(
  { config, log, metrics, fault }: RichlistDependencies,
  database: Database,
  index: RichlistIndex,
  node: Node,
  blocks: BlockServiceClient,
  signal: AbortSignal,
  onHindrance: (reason: string) => void,
): Promise<void> {
  const { rest, jsonRpc } = node;
  const seeding = { account_prefix: config.ACCOUNT_ADDRESS_PREFIX, concurrency: config.SEED_CONCURRENCY };
  const naming = { rest, log, metrics, signal };
  const isFirstMisfit = createOnce();
  const writer: WriterOptions = {
    log,
    fault,
    openSeed: (height) => openSeed({ ...seeding, rest, jsonRpc, log, metrics, signal }, height),
    askBalances: async (questions) => {
      try {
        return await fetchBalances(jsonRpc, questions, config.BALANCE_BATCH, signal);
      } catch (error) {
        signal.throwIfAborted();
        // The logs alone are a beginning; comparing sets right what they do not tell.
        metrics.problems.inc({ service: 'richlist', kind: 'first_balance' }, questions.length);
        log.warn(
          { err: error, balances: questions.length },
          'first balances are not known until they are compared',
        );
        return [];
      }
    },
    nameTokens: createNaming({ ...naming, patience_ms: namePatience_ms, pause_ms: namePause_ms }),
    onMisfit: ({ token, account }, height) => {
      metrics.problems.inc({ service: 'richlist', kind: 'range' });
      if (isFirstMisfit(token))
        log.warn(
          { token: `0x${token}`, account: `0x${account}`, height },
          'the logs of a token lead below zero or beyond uint256',
        );
    },
  };
  const store = index.openStore(writer);
  const nameTokens = createNaming({ ...naming, patience_ms: config.NODE_TIMEOUT_MS * 3, pause_ms: 0 });
  const { tables } = index;
  return ingest({
    config,
    blocks,
    store,
    database,
    tables,
    jsonRpc,
    nameTokens,
    log,
    metrics,
    signal,
    onHindrance,
  });
}

/** How long to wait for a database that does not answer, in milliseconds. */
const databaseWait_ms = 1_000;

/** Starts, and starts again while the database does not answer. */
async function startOnceReachable(
  dependencies: RichlistDependencies,
  signal: AbortSignal,
  onWait: (reason: string) => void,
): Promise<RichlistProcess> {
  for (;;) {
    try {
      return await startRichlist(dependencies);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || signal.aborted) throw error;
      onWait(error.message);
      dependencies.log.warn(`waiting for the database: ${error.message}`);
      await sleep(databaseWait_ms, signal);
    }
  }
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
    const addresses = [`${config.HOST}:${config.GRPC_PORT}`];
    richlist = await startOnceReachable({ config, database, log, metrics, addresses }, signal, (why) => {
      reason = why;
    });
    log.info({ grpc: richlist.address, ops: ops.port }, 'the richlist service is up');
    const running = richlist;
    return { stop: stopAll([() => database.close(), () => ops.close(), () => running.stop()]) };
  });
}

if (isMainModule(import.meta.url)) await main();
