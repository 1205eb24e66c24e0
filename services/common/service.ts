import type { Database } from './clickhouse/database.js';
import type { OnFatal, Stoppable } from './lifecycle.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { Readiness } from './ops.js';
import type { ServedService } from './rpc/server.js';
import type { Transport } from './rpc/transport.js';

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
