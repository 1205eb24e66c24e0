import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { fetchStatus } from '../common/chain/comet.js';
import { createEndpoints, retryDelay } from '../common/chain/endpoints.js';
import { watchTip } from '../common/chain/tip.js';
import type { Database } from '../common/clickhouse/database.js';
import { migrate, readMigrations } from '../common/clickhouse/migrate.js';
import { measured, openDatabase } from '../common/clickhouse/open.js';
import { loadSettings } from '../common/config.js';
import { messageOf } from '../common/errors.js';
import { runUntilSignal, type Stoppable, sleep, stopAll } from '../common/lifecycle.js';
import { createLog, type Log } from '../common/log.js';
import { createMetrics, type Metrics } from '../common/metrics.js';
import { createMutex } from '../common/mutex.js';
import { serveOps } from '../common/ops.js';
import { isMainModule, packageRoot } from '../common/paths.js';
import { type ServedService, serveRpc } from '../common/rpc/server.js';
import { createBell } from '../common/signal.js';
import { type BlockConfig, blockSettings, checkNode } from './config.js';
import type { Node } from './fetch.js';
import { follow } from './follow.js';
import { createHead, type Head } from './head.js';
import { blockService } from './rpc.js';
import { type BlockStore, createBlockStore, type FaultPoint } from './store.js';
import { followTraces } from './traces.js';
import { createValidators, type Validators } from './validators.js';

export interface BlockDependencies {
  readonly config: BlockConfig;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What gRPC listens on. */
  readonly addresses: readonly string[];
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** A running block service. */
export interface BlockProcess extends Stoppable {
  readonly address: string;
  /** For callers in the same process. */
  readonly service: ServedService;
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
  const { config, metrics } = dependencies;
  const log = dependencies.log.child({ service: 'block' });
  const database = measured(dependencies.database, 'block', metrics);
  const target = { database: `${config.CLICKHOUSE_DATABASE}_block`, cluster: config.CLICKHOUSE_CLUSTER };
  await migrate(database, readMigrations(join(packageRoot, 'services/block/schema')), target);
  const store = createBlockStore(database, target, dependencies.fault);
  const head = createHead(config.TAIL_MB * 1024 * 1024);
  const validators = createValidators(store, log);
  const ingests = config.ROLE !== 'serve';
  if (ingests) await recover(store);
  head.reset(await store.range(), (await store.traceRange()).last);
  await validators.load();

  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every request under way listens to it
  const known = await store.chain();
  if (known !== undefined) await store.claim(config.CHAIN_ID || known.chain_id, config.VM_TYPE);
  let chain_id = config.CHAIN_ID || (known?.chain_id ?? '');

  const service = blockService({
    log,
    metrics,
    store,
    head,
    validators,
    chain_id: () => chain_id,
    vm_type: config.VM_TYPE,
    traces: config.VM_TYPE === 'evm' && config.INTERNAL_TX,
  });
  const server = await serveRpc([service], dependencies.addresses);
  const node = ingests ? connectNode(config, log, metrics) : undefined;
  const loops: Promise<unknown>[] = [];
  if (node !== undefined) {
    const work = ingest(
      { config, node, store, head, validators, log, metrics, signal: stopping.signal },
      chain_id,
      (id) => {
        chain_id = id;
      },
    );
    loops.push(
      work.catch((error: unknown) => log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`)),
    );
  } else {
    loops.push(followTables(store, head, validators, stopping.signal, log));
  }
  server.setServing(true);
  return {
    address: server.address,
    service,
    head,
    chain_id: () => chain_id,
    stop: stopAll([
      () => closeNode(node),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await Promise.allSettled(loops);
      },
    ]),
  };
}

/** Removes what a crash left above the last whole block. */
async function recover(store: BlockStore): Promise<void> {
  await store.unwind((await store.range())?.last.height ?? 0);
}

function connectNode(config: BlockConfig, log: Log, metrics: Metrics): Node {
  const options = { log, metrics, timeout_ms: config.NODE_TIMEOUT_MS, connections: config.FETCH_CONCURRENCY };
  return {
    rpc: createEndpoints('rpc', config.RPC_URL, options),
    rest: createEndpoints('rest', config.REST_URL, options),
    jsonrpc: config.VM_TYPE === 'evm' ? createEndpoints('jsonrpc', config.JSON_RPC_URL, options) : undefined,
  };
}

async function closeNode(node: Node | undefined): Promise<void> {
  await Promise.all([node?.rpc.close(), node?.rest.close(), node?.jsonrpc?.close()]);
}

interface IngestOptions {
  readonly config: BlockConfig;
  readonly node: Node;
  readonly store: BlockStore;
  readonly head: Head;
  readonly validators: Validators;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** Everything that follows the chain. */
async function ingest(
  options: IngestOptions,
  expected: string,
  onChain: (chain_id: string) => void,
): Promise<void> {
  const { config, node, store, head, log, metrics, signal } = options;
  const chain_id = expected || (await askChain(node, log, signal));
  if (signal.aborted) return;
  await store.claim(chain_id, config.VM_TYPE);
  onChain(chain_id);

  const [tipMoved, wake, mutex] = [createBell(), createBell(), createMutex()];
  let nodeRange = { first: 1, last: 0 };
  const common = { node, store, head, log, metrics, signal, mutex };
  await Promise.all([
    watchTip({
      rpc: node.rpc,
      log,
      signal,
      poll_ms: config.POLL_INTERVAL_MS,
      chain_id,
      wake,
      onStatus: ({ latest_height: last, earliest_height: first }) => {
        const next = (head.last?.height ?? 0) + 1;
        if (first > next && head.last !== undefined && nodeRange.first !== first) {
          metrics.problems.inc({ service: 'block', kind: 'pruned' });
          log.error(
            { next, first },
            'the node no longer has the next block: give a URL of a node that has it',
          );
        }
        nodeRange = { first, last };
        head.setNodeHeight(last);
        metrics.height.set({ service: 'block', track: 'node' }, last);
        metrics.lag.set({ service: 'block' }, Math.max(0, last - (head.last?.height ?? 0)));
        tipMoved.ring();
      },
    }),
    follow({
      ...common,
      chain_id,
      concurrency: config.FETCH_CONCURRENCY,
      start_height: config.START_HEIGHT,
      decodedAttempts: config.DECODED_ATTEMPTS,
      tipMoved,
      nodeRange: () => nodeRange,
    }),
    learnProposers(options),
    node.jsonrpc !== undefined && config.INTERNAL_TX
      ? followTraces({
          ...common,
          jsonrpc: node.jsonrpc,
          concurrency: config.TRACE_CONCURRENCY,
          attempts: config.TRACE_ATTEMPTS,
        })
      : undefined,
  ]);
}

/** The chain id that the node gives, once it answers. */
async function askChain(node: Node, log: Log, signal: AbortSignal): Promise<string> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return (await fetchStatus(node.rpc, signal)).network;
    } catch (error) {
      if (attempt === 3)
        log.warn(`the node does not answer, it is asked again and again: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
  return '';
}

/** Looks up proposers that are not known yet. */
async function learnProposers({ head, validators, node, signal }: IngestOptions): Promise<void> {
  while (!signal.aborted) {
    const rung = head.bell.count;
    const proposer = head.last?.proposer_address ?? '';
    if (await validators.learn(proposer, node.rest, signal)) head.revise();
    await head.bell.heard(rung, signal);
  }
}

/** How often a process of the role `serve` looks at the tables, in milliseconds. */
const look_ms = 250;

/** Keeps the head as the tables have it, where another process writes them. */
async function followTables(
  store: BlockStore,
  head: Head,
  validators: Validators,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const [range, traces] = [await store.range(), await store.traceRange()];
      if (range?.last.hash !== head.last?.hash || traces.last !== head.trace_height) {
        head.reset(range, traces.last);
        await validators.load();
      }
    } catch (error) {
      log.warn({ err: error }, `the tables do not answer: ${messageOf(error)}`);
    }
    await sleep(look_ms, signal);
  }
}

/** Runs the block service alone. */
async function main(): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, async () => {
    const config = loadSettings(blockSettings, process.env, (values) =>
      values.ROLE === 'serve' ? [] : checkNode(values),
    );
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    const database = await openDatabase(config);
    const block = await startBlock({
      config,
      database,
      log,
      metrics,
      addresses: [`${config.HOST}:${config.GRPC_PORT}`],
    });
    const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, () => ({
      ready: block.head.last !== undefined,
      reason: 'no block is indexed yet',
    }));
    log.info({ grpc: block.address, ops: ops.port }, 'the block service is up');
    return { stop: stopAll([() => database.close(), () => ops.close(), () => block.stop()]) };
  });
}

if (isMainModule(import.meta.url)) await main();
