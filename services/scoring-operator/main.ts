import { join } from 'node:path';
import { measured, openDatabase } from '../common/clickhouse/open.js';
import { serveRpc } from '../common/rpc/server.js';
import { openTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { messageOf, UserError } from '../common/runtime/errors.js';
import { runUntilSignal, sleep, stopAll, throwFatal } from '../common/runtime/lifecycle.js';
import { createLog } from '../common/runtime/log.js';
import { createMetrics } from '../common/runtime/metrics.js';
import { allReady, type Readiness, serveOps } from '../common/runtime/ops.js';
import { isMainModule } from '../common/runtime/paths.js';
import type { ServiceDependencies, ServiceProcess } from '../common/runtime/service.js';
import { childOf } from '../common/util/signal.js';
import { checkScoring, type ScoringConfig, scoringSettings } from './config.js';
import { type Machine, runLoop } from './machine/run.js';
import type { Rules } from './machine/types.js';
import { createScoringGauges } from './metrics.js';
import { runOperator } from './operator/start.js';
import type { FactClients } from './policy/gather/clients.js';
import { openProgram } from './program/open.js';
import { loadProgram, type Program, rereadRules } from './program/program.js';
import { scoringService } from './rpc.js';
import { keepStatus } from './status.js';
import { makeTables } from './tables.js';

/** What the scoring operator is started with, for one program. */
export interface ScoringDependencies extends ServiceDependencies<ScoringConfig> {
  readonly program: Program;
  /** The rules as they are now; default: those of the program. */
  readonly rules?: () => Rules;
  /** Clients of services in the same process. */
  readonly clients?: FactClients;
  readonly signal?: AbortSignal;
  readonly onStep?: Machine['onStep'];
}

/** Longest wait between two looks after failures, in milliseconds. */
const longest_ms = 300_000;

/** Starts the operator for one program: the gRPC API, and in the role `all` the stage machine. */
export async function startScoring(dependencies: ScoringDependencies): Promise<ServiceProcess> {
  const { config, program, metrics, onFatal = throwFatal } = dependencies;
  const log = dependencies.log.child({ service: 'scoring', program: program.name });
  const database = measured(dependencies.database, 'scoring', metrics);
  const database_name = await makeTables(database, config);
  const keeper = keepStatus(createScoringGauges(metrics), metrics);
  const stopping = new AbortController();
  const writing = childOf(stopping.signal);
  const isRunning = config.ROLE === 'all';
  const opened = await openProgram(program, {
    signing: config,
    database,
    database_name,
    lease_ms: config.WRITER_LEASE_MS,
    onSuperseded: onFatal,
    log,
    metrics,
    phases: { score: true, finalize: true },
    is_read_only: !isRunning,
    rules: dependencies.rules,
    security: dependencies.transport?.client,
    onStep: (step) => {
      keeper.onStep(step);
      dependencies.onStep?.(step);
    },
    ...(dependencies.clients === undefined ? {} : { clients: dependencies.clients }),
    ...(dependencies.signal === undefined ? {} : { signal: dependencies.signal }),
  });
  const { machine, source, account, evm_chain_id } = opened;
  log.info(
    { evm_chain_id: String(evm_chain_id), contract: machine.contract.address, account },
    'program opened',
  );
  const service = scoringService({
    log,
    metrics,
    source,
    account,
    account_prefix: program.rollup.account_prefix,
    status: () => keeper.status,
  });
  const server = await serveRpc([service], dependencies.addresses, dependencies.transport).catch(
    async (error: unknown) => {
      await opened.close();
      throw error;
    },
  );
  const options = { poll_ms: program.poll_seconds * 1_000, longest_ms, onFailure: keeper.onFailure };
  const work = isRunning ? runLoop(machine, options, writing.signal) : Promise.resolve();
  server.setServing(true);
  return {
    service,
    address: server.address,
    stopWriting: () => writing.abort(),
    readiness: () => {
      if (!isRunning) return { ready: true, reason: '' };
      const { at, trouble } = keeper.status;
      const reason = trouble || (at === 0 ? 'nothing was looked at yet' : '');
      return { ready: reason === '', reason };
    },
    stop: stopAll([
      () => opened.close(),
      () => server.close(config.SHUTDOWN_GRACE_MS),
      async () => {
        server.setServing(false);
        stopping.abort();
        await work;
      },
    ]),
  };
}

/** How long to wait for a node or database that does not answer, in milliseconds. */
const wait_ms = 5_000;

/** Starts, and starts again while something is not there yet. */
async function startOnceReachable(
  dependencies: ScoringDependencies,
  signal: AbortSignal,
  onWait: (reason: string) => void,
): Promise<ServiceProcess> {
  for (;;) {
    try {
      return await startScoring({ ...dependencies, signal });
    } catch (error) {
      if (error instanceof UserError || signal.aborted) throw error;
      onWait(messageOf(error));
      dependencies.log.warn(`waiting: ${messageOf(error)}`);
      await sleep(wait_ms, signal);
      // The gauges of the attempt before stand in the way of the next.
      dependencies.metrics.registry
        .getMetricsAsArray()
        .filter(({ name }) => name.startsWith('weft_scoring_'))
        .forEach(({ name }) => {
          dependencies.metrics.registry.removeSingleMetric(name);
        });
    }
  }
}

/** Runs the scoring operator alone: one program, or, in a cluster, all those of a namespace; or both. */
async function main(): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, async (signal, onFatal) => {
    const config = loadSettings(scoringSettings, process.env, checkScoring);
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    const readiness: Record<string, Readiness> = {};
    const stops: (() => Promise<unknown>)[] = [];
    const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, () => allReady(readiness)());
    stops.push(() => ops.close());
    const transport = openTransport(config, log, metrics);
    stops.push(async () => transport.close());
    const database = await openDatabase({ ...config, DATA_DIR: join(config.DATA_DIR, 'scoring') });
    stops.push(() => database.close());
    if (config.KUBERNETES_OPERATOR) {
      const operator = runOperator({
        config,
        env: process.env,
        database,
        log,
        metrics,
        security: transport.client,
      });
      readiness['operator'] = operator.readiness;
      stops.push(() => operator.stop());
    }
    if (config.SCORING_PROGRAM !== '') {
      let reason = 'the node has not answered yet';
      readiness['program'] = () => ({ ready: false, reason });
      const program = loadProgram(config.SCORING_PROGRAM);
      const addresses = [`${config.HOST}:${config.GRPC_PORT}`];
      const rules = rereadRules(config.SCORING_PROGRAM, program.rules, (message) => log.error(message));
      const scoring = await startOnceReachable(
        { config, program, rules, database, log, metrics, addresses, transport, onFatal },
        signal,
        (why) => {
          reason = why;
        },
      );
      readiness['program'] = scoring.readiness;
      stops.push(() => scoring.stop());
      log.info({ grpc: scoring.address }, 'the program is served');
    }
    log.info({ ops: ops.port }, 'the scoring operator is up');
    return { stop: stopAll(stops) };
  });
}

if (isMainModule(import.meta.url)) await main();
