import type { Database } from './clickhouse/database.js';
import { type DatabaseConfig, openDatabase } from './clickhouse/open.js';
import { runUntilSignal, type Stoppable } from './lifecycle.js';
import { hostPort } from './listen.js';
import { createLog, type Log } from './log.js';
import { createMetrics, type Metrics } from './metrics.js';
import { type Readiness, serveOps } from './ops.js';
import { startOnceReachable } from './reachable.js';
import { startTogether } from './start-together.js';

/** What every service with tables is told. */
export interface ServiceConfig extends DatabaseConfig {
  readonly LOG_LEVEL: Log['level'];
  readonly HOST: string;
  readonly GRPC_PORT: number;
  readonly OPS_PORT: number;
}

/** What a service is started with. */
export interface ServiceDependencies<Config> {
  readonly config: Config;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly addresses: readonly string[];
}

/** A running service. */
export interface ServiceProcess extends Stoppable {
  readonly address: string;
  readonly readiness: Readiness;
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
  await runUntilSignal(log, (signal) =>
    startTogether(async (stops) => {
      const config = load();
      log.level = config.LOG_LEVEL;
      const metrics = createMetrics(true);
      let readiness: Readiness = () => ({ ready: false, reason: 'the database has not answered yet' });
      const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, () => readiness());
      stops.push(() => ops.close());
      const database = await openDatabase(config);
      stops.push(() => database.close());
      const addresses = [hostPort(config.HOST, config.GRPC_PORT)];
      const running = await startOnceReachable(() => start({ config, database, log, metrics, addresses }), {
        log,
        signal,
        onWait: (reason) => {
          readiness = () => ({ ready: false, reason });
        },
      });
      stops.push(() => running.stop());
      readiness = running.readiness;
      log.info({ grpc: running.address, ops: ops.port }, `the ${name} service is up`);
      return {};
    }),
  );
}
