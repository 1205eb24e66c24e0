import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { answerBound, createEndpoints, type Endpoints } from '../chain/endpoints.js';
import { type MigrationMode, readMigrations } from '../clickhouse/migrate.js';
import { measured } from '../clickhouse/open.js';
import { BlockServiceClient } from '../gen/indexer/block/v1/block.js';
import { openGenerations } from '../reindex/open.js';
import { reindexService } from '../reindex/rpc.js';
import type { GenerationTables, RebuildableService } from '../reindex/tables.js';
import { connectRpc } from '../rpc/client.js';
import { type ServedService, serveRpc } from '../rpc/server.js';
import { plainTransport } from '../rpc/transport.js';
import { type FaultPoint, startTogether, throwFatal } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { packageRoot } from '../runtime/paths.js';
import type { ServiceDependencies, ServiceProcess } from '../runtime/service.js';
import { childOf } from '../util/signal.js';
import { createWriterHealth, type WriterHealth } from '../writer/health.js';

/** What every service that consumes blocks is told. */
export interface ConsumerConfig {
  /** Whether it writes its tables, answers calls from them, or both. */
  readonly ROLE: 'all' | 'ingest' | 'serve';
  readonly MIGRATIONS: MigrationMode;
  readonly BLOCK_SERVICE_ADDR: string;
  readonly NODE_TIMEOUT_MS: number;
  readonly NODE_ANSWER_MB: number;
  readonly REINDEX_PERCENT: number;
  readonly REINDEX_KEEP_MS: number;
  readonly WRITER_LEASE_MS: number;
  readonly SHUTDOWN_GRACE_MS: number;
  readonly WRITER_PATIENCE_MS: number;
}

/** What a service that consumes blocks is started with. */
export interface ConsumerDependencies<Config> extends ServiceDependencies<Config> {
  /** A client of the block service; default: one of BLOCK_SERVICE_ADDR. */
  readonly blocks?: BlockServiceClient;
  /** For tests: called between any two writes. */
  readonly fault?: FaultPoint;
}

/** What the tables of such a service are opened with. */
export interface TablesOptions<Config> {
  readonly config: Config;
  readonly blocks: BlockServiceClient;
  /** Of the node; without URLs where the service has nothing to ask it. */
  readonly rest: Endpoints;
  readonly jsonRpc: Endpoints;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Told of every write that fails or works. */
  readonly health: WriterHealth;
  readonly fault?: FaultPoint | undefined;
}

/** Everything that is opened on one generation of such a service's tables. */
export interface ConsumerTables<Reader> extends GenerationTables {
  readonly reader: Reader;
  /** What keeps the tables from being written; '' once nothing does. */
  readonly hindrance: () => string;
}

/** A service that consumes blocks, as one whose tables can be rebuilt. @param open opens its migrated tables. */
export const rebuildable = <Tables extends GenerationTables>(
  name: string,
  config: { readonly CLICKHOUSE_DATABASE: string; readonly CLICKHOUSE_CLUSTER: string },
  open: RebuildableService<Tables>['open'],
): RebuildableService<Tables> => ({
  name,
  base: { database: `${config.CLICKHOUSE_DATABASE}_${name}`, cluster: config.CLICKHOUSE_CLUSTER },
  migrations: readMigrations(join(packageRoot, `services/${name}/schema`)),
  open,
});

/** What the handlers of such a service are made with. */
export interface ApiOptions<Config, Tables extends ConsumerTables<unknown>> {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What a call works on; a call that has begun keeps what it began with. */
  readonly current: () => Tables;
  /** What a call is answered from: the reader of the current tables. */
  readonly reader: () => Tables['reader'];
  /** Ends the streams when the service stops. */
  readonly stopping: AbortSignal;
}

/** In what the services that consume blocks differ. */
export interface ConsumerService<Config, Tables extends ConsumerTables<unknown>> {
  /** Its name in logs and metrics. */
  readonly name: string;
  /** What it asks the node, and over how many connections to each URL at once. */
  readonly node: (config: Config) => {
    readonly rest: readonly string[];
    readonly jsonRpc: readonly string[];
    readonly connections: number;
  };
  readonly tables: (options: TablesOptions<Config>) => RebuildableService<Tables>;
  readonly api: (options: ApiOptions<Config, Tables>) => ServedService;
}

/**
 * Starts a service that consumes blocks: the gRPC API, and in the roles `all` and `ingest` the indexer. When
 * anything of it fails, what was opened is closed.
 *
 * @throws UserError for what the user can put right, such as a port that is taken.
 * @throws DatabaseUnavailable when the database does not answer: the same start may work later.
 */
export function startConsumer<Config extends ConsumerConfig, Tables extends ConsumerTables<unknown>>(
  kind: ConsumerService<Config, Tables>,
  dependencies: ConsumerDependencies<Config>,
): Promise<ServiceProcess> {
  const { config, metrics, fault, onFatal = throwFatal, transport = plainTransport } = dependencies;
  const log = dependencies.log.child({ service: kind.name });
  const database = measured(dependencies.database, kind.name, metrics);
  const ingests = config.ROLE !== 'serve';
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // every request under way listens to it
  const writing = childOf(signal);
  return startTogether(async (stops) => {
    const urls = kind.node(config);
    const options = {
      ...{ log, metrics, service: kind.name, bound: answerBound(config) },
      ...{ timeout_ms: config.NODE_TIMEOUT_MS, connections: urls.connections },
    };
    const rest = createEndpoints('rest', urls.rest, options);
    stops.push(() => rest.close());
    const jsonRpc = createEndpoints('jsonrpc', urls.jsonRpc, options);
    stops.push(() => jsonRpc.close());
    const blocks =
      dependencies.blocks ?? connectRpc(BlockServiceClient, config.BLOCK_SERVICE_ADDR, transport.client);
    if (dependencies.blocks === undefined) stops.push(async () => blocks.close());

    stops.push(async () => stopping.abort());
    let lookHindrance = 'the tables have not been looked at yet';
    const health = createWriterHealth({
      ...{ service: kind.name, metrics, onFatal, patience_ms: config.WRITER_PATIENCE_MS },
    });
    const generations = await openGenerations({
      service: kind.tables({ config, blocks, rest, jsonRpc, log, metrics, health, fault }),
      database,
      log,
      metrics,
      ingests,
      migrations: config.MIGRATIONS,
      percent: config.REINDEX_PERCENT,
      keep_ms: config.REINDEX_KEEP_MS,
      lease_ms: config.WRITER_LEASE_MS,
      onSuperseded: onFatal,
      // What only serves follows the tables as long as it answers calls.
      signal: ingests ? writing.signal : signal,
      onLook: (reason) => {
        lookHindrance = reason;
      },
      fault,
    });
    const { current } = generations;
    const reader = () => current().reader;
    const service = kind.api({ config, log, metrics, current, reader, stopping: signal });
    const reindex = reindexService({ log, metrics, reindexer: generations.reindexer });
    const server = await serveRpc([service, reindex], dependencies.addresses, transport);
    stops.push(() => server.close(config.SHUTDOWN_GRACE_MS));

    const work = generations.run().catch(onFatal);
    server.setServing(true);
    // Before the server closes: the indexer ends its batch, then running calls get their answers.
    stops.push(async () => {
      server.setServing(false);
      stopping.abort();
      await work;
    });
    const hindrance = (): string =>
      ingests ? generations.notReadyReason() || current().hindrance() || health.reason() : lookHindrance;
    const readiness = () => ({ ready: hindrance() === '', reason: hindrance() });
    server.showReadiness(kind.name, readiness);
    return {
      service,
      address: server.address,
      stopWriting: () => {
        if (ingests) writing.abort();
      },
      readiness,
    };
  });
}
