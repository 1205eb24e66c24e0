import { type ClientSecurity, checkTransport, openTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { runUntilSignal, type Stoppable, stopAll } from '../common/runtime/lifecycle.js';
import { createLog, type Log } from '../common/runtime/log.js';
import { createMetrics, type Metrics } from '../common/runtime/metrics.js';
import { type Readiness, serveOps } from '../common/runtime/ops.js';
import { isMainModule } from '../common/runtime/paths.js';
import { createApp } from './app.js';
import { type Clients, closeClients, connectClients } from './clients.js';
import { type GatewaySettings, gatewayProgramSettings } from './config.js';
import { watchHeads } from './heads.js';
import { listen } from './listen.js';
import { readCommitHash, readVersion } from './version.js';

/** What the gateway is started with. */
export interface GatewayDependencies {
  readonly config: GatewaySettings;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How the services are spoken to; plain text by default. */
  readonly security?: ClientSecurity;
  /** Clients of services in the same process; default: of the addresses in the configuration. */
  readonly clients?: Clients;
}

/** A running gateway. */
export interface Gateway extends Stoppable {
  /** Port of the HTTP API. */
  readonly port: number;
  /** Ready while any service is heard: with one of them down the other's routes still work. */
  readonly readiness: Readiness;
  /** Says that it is not ready any more, and goes on serving. */
  drain(): void;
}

/** Starts the gateway; the services it asks need not be up yet. */
export async function startGateway(dependencies: GatewayDependencies): Promise<Gateway> {
  const { config, metrics } = dependencies;
  const log = dependencies.log.child({ service: 'gateway' });
  const clients = dependencies.clients ?? connectClients(config, dependencies.security);
  const heads = watchHeads(clients, log, config.VM_TYPE);
  const app = createApp({
    config,
    clients,
    heads,
    log,
    metrics,
    version: readVersion(),
    commit_hash: readCommitHash(config.COMMIT_HASH),
  });
  let isStopping = false;
  const release = stopAll([async () => closeClients(clients), () => heads.close()]);
  const server = await listen(app, config.HOST, config.PORT, {
    max_connections: config.MAX_CONNECTIONS,
    onFull: () => metrics.limits.inc({ service: 'gateway', limit: 'MAX_CONNECTIONS' }),
  }).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  log.info({ host: config.HOST, port: server.port, base_path: config.BASE_PATH }, 'listening');
  return {
    port: server.port,
    readiness: () => {
      const isHeard = Object.values(heads.current).some((head) => head.version !== undefined);
      const reason = isStopping ? 'stopping' : isHeard ? '' : 'no service is heard';
      return { ready: reason === '', reason };
    },
    drain: () => {
      isStopping = true;
      server.drain();
    },
    stop: async () => {
      isStopping = true;
      await server.close(config.SHUTDOWN_GRACE_MS);
      await release();
    },
  };
}

/** Runs the gateway on its own, as the environment says. */
async function main(): Promise<never> {
  const log = createLog('info');
  return runUntilSignal(log, async () => {
    const config = loadSettings(gatewayProgramSettings, process.env, checkTransport);
    log.level = config.LOG_LEVEL;
    const metrics = createMetrics(true);
    const transport = openTransport(config, log, metrics);
    const gateway = await startGateway({ config, log, metrics, security: transport.client });
    const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, gateway.readiness);
    return {
      drain_ms: config.DRAIN_MS,
      grace_ms: config.SHUTDOWN_GRACE_MS,
      drain: gateway.drain,
      stop: stopAll([() => ops.close(), async () => transport.close(), () => gateway.stop()]),
    };
  });
}

if (isMainModule(import.meta.url)) await main();
