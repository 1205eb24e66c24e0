import { join } from 'node:path';
import type { Endpoints } from './chain/endpoints.js';
import { type MigrationMode, readMigrations } from './clickhouse/migrate.js';
import type { FaultPoint } from './fault.js';
import type { BlockServiceClient } from './gen/indexer/block/v1/block.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import { packageRoot } from './paths.js';
import type { GenerationTables, RebuildableService } from './reindex/tables.js';
import type { ServedService } from './rpc/server.js';
import type { ServiceDependencies } from './service.js';
import type { WriterHealth } from './writer-health.js';

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
