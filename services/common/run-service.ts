import { watchLostParts } from './clickhouse/lost-parts.js';
import { type DatabaseConfig, openDatabase } from './clickhouse/open.js';
import type { ValuesOf } from './config.js';
import { runUntilSignal } from './lifecycle.js';
import { hostPort } from './listen.js';
import { createLog, type Log } from './log.js';
import { createMetrics } from './metrics.js';
import { type Readiness, serveOps } from './ops.js';
import { startOnceReachable } from './reachable.js';
import { serveHealth } from './rpc/health.js';
import { openTransport } from './rpc/transport.js';
import type { ServiceDependencies, ServiceProcess } from './service.js';
import type { programSettings } from './settings.js';
import { startTogether } from './start-together.js';

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
