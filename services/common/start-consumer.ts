import { setMaxListeners } from 'node:events';
import { answerBound, createEndpoints } from './chain/endpoints.js';
import { measured } from './clickhouse/open.js';
import type {
  ConsumerConfig,
  ConsumerDependencies,
  ConsumerService,
  ConsumerTables,
} from './consumer-service.js';
import { BlockServiceClient } from './gen/indexer/block/v1/block.js';
import { throwFatal } from './lifecycle.js';
import { openGenerations } from './reindex/open.js';
import { reindexService } from './reindex/rpc.js';
import { connectRpc } from './rpc/client.js';
import { serveRpc } from './rpc/server.js';
import { plainTransport } from './rpc/transport.js';
import type { ServiceProcess } from './service.js';
import { childOf } from './signal.js';
import { startTogether } from './start-together.js';
import { createWriterHealth } from './writer-health.js';

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
