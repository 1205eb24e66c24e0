import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { prepareTables, readMigrations } from '../common/clickhouse/migrate.js';
import { measured } from '../common/clickhouse/open.js';
import { pageBoundOf } from '../common/page/fit.js';
import { serveRpc } from '../common/rpc/server.js';
import { checkTransport, plainTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { type FaultPoint, stopAll, throwFatal } from '../common/runtime/lifecycle.js';
import { isMainModule, packageRoot } from '../common/runtime/paths.js';
import { runService, type ServiceDependencies, type ServiceProcess } from '../common/runtime/service.js';
import { openFactFiles } from '../common/util/fact-files.js';
import { childOf } from '../common/util/signal.js';
import { createFence } from '../common/writer/fence.js';
import { createWriterHealth } from '../common/writer/health.js';
import { prepareWriters, readRowEpoch } from '../common/writer/writers.js';
import { type BlockConfig, blockProgramSettings, checkNode } from './config.js';
import { createHead, type Head } from './head.js';
import { closeNode, connectNode, ingest } from './ingest.js';
import { blockService } from './rpc.js';
import { createBlockStore } from './store.js';
import { followTables } from './tables.js';
import { createValidators } from './validators.js';

/** What the block service is started with. */
export interface BlockDependencies extends ServiceDependencies<BlockConfig> {
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** A running block service. */
export interface BlockProcess extends ServiceProcess {
  readonly head: Head;
  /** The chain that is followed; empty until it is known. */
  readonly chain_id: () => string;
}

/**
 * Starts the block service: the gRPC API, and in the role `ingest` the follower of the chain.
 *
 * @throws UserError when the tables, the configuration and the node are of different chains.
 */
export async function startBlock(dependencies: BlockDependencies): Promise<BlockProcess> {
  const { config, metrics, onFatal = throwFatal, transport = plainTransport } = dependencies;
  const log = dependencies.log.child({ service: 'block' });
  const database = measured(dependencies.database, 'block', metrics);
  const target = { database: `${config.CLICKHOUSE_DATABASE}_block`, cluster: config.CLICKHOUSE_CLUSTER };
  const migrations = readMigrations(join(packageRoot, 'services/block/schema'));
  await prepareTables(database, migrations, target, config.MIGRATIONS);
  await prepareWriters(database, target, config.MIGRATIONS);
  const fence = createFence({
    ...{ database, target, scope: '', lease_ms: config.WRITER_LEASE_MS, log, onSuperseded: onFatal },
    what: 'the tables of the block service',
    rowEpoch: () => readRowEpoch(database, target),
    onEpoch: (epoch) => metrics.writerEpoch.set({ service: 'block' }, epoch),
  });
  const store = createBlockStore(fence.over(database), target, dependencies.fault, (identity) =>
    openFactFiles(config, 'block', identity, { log, metrics }),
  );
  const head = createHead(config.TAIL_MB * 1024 * 1024);
  metrics.holds('block', 'newest_blocks', () => head.held());
  const validators = createValidators(store, log);
  const ingests = config.ROLE !== 'serve';
  head.reset(await store.range(), await store.traceHeight());
  await validators.load();

  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every request under way listens to it
  const writing = childOf(stopping.signal);
  const known = await store.chain();
  if (known !== undefined) await store.claim(config.CHAIN_ID || known.chain_id, config.VM_TYPE);
  let chain_id = known?.chain_id ?? '';
  let hindrance = '';

  const health = createWriterHealth({
    ...{ service: 'block', metrics, onFatal, patience_ms: config.WRITER_PATIENCE_MS },
  });
  const service = blockService({
    log,
    metrics,
    health: ingests ? health : undefined,
    store,
    head,
    validators,
    chain_id: () => chain_id,
    vm_type: config.VM_TYPE,
    traces: config.VM_TYPE === 'evm' && config.INTERNAL_TX,
    page: pageBoundOf('block', config.PAGE_MB, metrics),
    stopping: stopping.signal,
  });
  const server = await serveRpc([service], dependencies.addresses, transport);
  const node = ingests ? connectNode(config, log, metrics) : undefined;
  const common = {
    health,
    store,
    head,
    validators,
    log,
    signal: stopping.signal,
    onFatal,
    onChain: (id: string): void => {
      chain_id = id;
    },
    onHindrance: (reason: string): void => {
      hindrance = reason;
    },
  };
  const work =
    node === undefined
      ? followTables(common)
      : ingest({ ...common, fence, config, node, metrics, signal: writing.signal });
  const readiness = () => {
    const reason =
      (ingests ? fence.notReadyReason : '') ||
      hindrance ||
      health.reason() ||
      (head.last === undefined ? 'no block is indexed yet' : '');
    return { ready: reason === '', reason };
  };
  server.setServing(true);
  server.showReadiness('block', readiness);
  return {
    address: server.address,
    service,
    head,
    chain_id: () => chain_id,
    readiness,
    stopWriting: () => writing.abort(),
    stop: stopAll([
      () => closeNode(node),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await work;
      },
    ]),
  };
}

/** What the environment says. @throws ConfigError */
const load = () =>
  loadSettings(blockProgramSettings, process.env, (values) => [
    ...(values.ROLE === 'serve' ? [] : checkNode(values)),
    ...checkTransport(values),
  ]);

if (isMainModule(import.meta.url)) await runService('block', load, startBlock);
