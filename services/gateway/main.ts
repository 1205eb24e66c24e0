import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChannelCredentials } from '@grpc/grpc-js';
import { loadSettings } from '../common/config.js';
import { runUntilSignal, type Stoppable, stopAll } from '../common/lifecycle.js';
import { createLog, type Log } from '../common/log.js';
import { createMetrics, type Metrics } from '../common/metrics.js';
import { type Readiness, serveOps } from '../common/ops.js';
import { logSettings, serverSettings } from '../common/settings.js';
import { createApp } from './app.js';
import { closeClients, connectClients } from './clients.js';
import { type GatewaySettings, gatewaySettings } from './config.js';
import { watchHeads } from './heads.js';
import { listen } from './listen.js';
import { readCommitHash, readVersion } from './version.js';

/** What the gateway is started with besides its settings. */
export interface GatewayEnvironment {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Credentials for calls to the services; plain text by default. */
  readonly credentials?: ChannelCredentials;
}

/** A running gateway. */
export interface Gateway extends Stoppable {
  /** Port of the HTTP API. */
  readonly port: number;
  /** Ready while any service is heard: with one of them down the other's routes still work. */
  readonly readiness: Readiness;
}

/** Starts the gateway; the services it asks need not be up yet. */
export async function startGateway(
  settings: GatewaySettings,
  environment: GatewayEnvironment,
): Promise<Gateway> {
  const log = environment.log.child({ service: 'gateway' });
  const clients = connectClients(settings, environment.credentials);
  const heads = watchHeads(clients, log);
  const app = createApp({
    settings,
    clients,
    heads,
    log,
    metrics: environment.metrics,
    version: readVersion(),
    commit_hash: readCommitHash(settings.COMMIT_HASH),
  });
  let isStopping = false;
  const release = stopAll([async () => closeClients(clients), () => heads.close()]);
  const server = await listen(app, settings.HOST, settings.PORT).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  log.info({ host: settings.HOST, port: server.port, base_path: settings.BASE_PATH }, 'listening');
  return {
    port: server.port,
    readiness: () => {
      const isHeard = Object.values(heads.current).some((head) => head.version !== undefined);
      const reason = isStopping ? 'stopping' : isHeard ? '' : 'no service is heard';
      return { ready: reason === '', reason };
    },
    stop: async () => {
      isStopping = true;
      await server.close(settings.SHUTDOWN_GRACE_MS);
      await release();
    },
  };
}

/** Runs the gateway on its own, as the environment says. */
async function main(): Promise<never> {
  const log = createLog('info');
  return runUntilSignal(log, async () => {
    const all = { ...logSettings, ...gatewaySettings, OPS_PORT: serverSettings.OPS_PORT };
    const settings = loadSettings(all, process.env);
    log.level = settings.LOG_LEVEL;
    const metrics = createMetrics(true);
    const gateway = await startGateway(settings, { log, metrics });
    const ops = await serveOps(settings.HOST, settings.OPS_PORT, metrics, gateway.readiness);
    return { stop: stopAll([() => ops.close(), () => gateway.stop()]) };
  });
}

const script = process.argv[1];
if (script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url)) await main();
