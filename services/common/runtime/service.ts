import type { Database } from '../clickhouse/database.js';
import { watchLostParts } from '../clickhouse/engine-files.js';
import { type DatabaseConfig, openDatabase } from '../clickhouse/open.js';
import { serveHealth } from '../rpc/health.js';
import type { ServedService } from '../rpc/server.js';
import { openTransport, type Transport } from '../rpc/transport.js';
import type { ValuesOf } from './config.js';
import {
  type OnFatal,
  runUntilSignal,
  type Stoppable,
  startOnceReachable,
  startTogether,
} from './lifecycle.js';
import { createLog, type Log } from './log.js';
import { createMetrics, type Metrics } from './metrics.js';
import { hostPort } from './network.js';
import { type Readiness, serveOps } from './ops.js';
import type { programSettings } from './settings.js';

/** What a service with tables is started with. */
export interface ServiceDependencies<Config> {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What gRPC listens on. */
  readonly addresses: readonly string[];
  /** How it talks with other processes; default: in plain text. */
  readonly transport?: Transport | undefined;
  /** Takes an error after which the writer of the tables cannot go on: the process ends with 75. Default: it is thrown. */
  readonly onFatal?: OnFatal;
}

/** A running service. */
export interface ServiceProcess extends Stoppable {
  /** Begins to end what writes its tables; calls are still answered. A stop does both. */
  readonly stopWriting?: () => void;
  /** For callers in the same process. */
  readonly service: ServedService;
  /** Where gRPC listens, with the real port. */
  readonly address: string;
  /** Whether it does its work, and if not, why. What is in its tables is served all the same. */
  readonly readiness: Readiness;
}

/** What every service with tables is told. */
export interface ServiceConfig extends DatabaseConfig, ValuesOf<typeof programSettings> {
  readonly LOG_LEVEL: Log['level'];
  readonly HOST: string;
  readonly GRPC_PORT: number;
  readonly OPS_PORT: number;
  readonly DRAIN_MS: number;
  readonly SHUTDOWN_GRACE_MS: number;
}

/**
 * Runs one service alone in its process, until a signal, with metrics and health on a port of
 * their own. They are there from the beginning: while the database does not answer the process
 * lives, is not ready, and says why.
 *
 * @param load the settings. @throws ConfigError
 */
export async function runService<Config extends ServiceConfig>(
  name: string,
  load: () => Config,
  start: (dependencies: ServiceDependencies<Config>) => Promise<ServiceProcess>,
): Promise<void> {
  const log = createLog('info');
  await runUntilSignal(log, (signal, onFatal) =>
    startTogether(async (stops) => {
      const config = load();
      log.level = config.LOG_LEVEL;
      const metrics = createMetrics(true);
      let readiness: Readiness = () => ({ ready: false, reason: 'the database has not answered yet' });
      const ready: Readiness = () => readiness();
      const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, ready);
      stops.push(() => ops.close());
      const health =
        config.HEALTH_PORT === ''
          ? undefined
          : await serveHealth(config.HOST, config.HEALTH_PORT, { [name]: ready });
      if (health !== undefined) stops.push(() => health.close());
      const transport = openTransport(config, log, metrics);
      stops.push(async () => transport.close());
      const database = await openDatabase(config);
      stops.push(() => database.close());
      const lost = await watchLostParts(database, log);
      stops.push(async () => lost.stop());
      const addresses = [hostPort(config.HOST, config.GRPC_PORT)];
      const dependencies = { config, database, log, metrics, addresses, transport, onFatal };
      const running = await startOnceReachable(() => start(dependencies), {
        log,
        signal,
        onWait: (reason) => {
          readiness = () => ({ ready: false, reason });
        },
      });
      stops.push(() => running.stop());
      readiness = () => {
        const complete = lost.readiness();
        return complete.ready ? running.readiness() : complete;
      };
      log.info({ grpc: running.address, ops: ops.port }, `the ${name} service is up`);
      return {
        stopWriting: running.stopWriting,
        drain_ms: config.DRAIN_MS,
        grace_ms: config.SHUTDOWN_GRACE_MS,
        drain: () => {
          readiness = () => ({ ready: false, reason: 'stopping' });
          health?.look();
        },
      };
    }),
  );
}
