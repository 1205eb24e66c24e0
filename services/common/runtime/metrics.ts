import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Upper bounds in seconds: from a cached answer to a query that ran into its deadline. */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Every metric of the project, declared once; a service uses those that concern it. */
export interface Metrics {
  readonly registry: Registry;
  /** Heights by `service` and `track` (head, traces, node). */
  readonly height: Gauge<'service' | 'track'>;
  /** Blocks between the node's tip and a service's head. */
  readonly lag: Gauge<'service'>;
  readonly blocks: Counter<'service'>;
  readonly txs: Counter<'service'>;
  /** Number of the writer while this process writes a service's tables; 0 while it waits or has lost them. */
  readonly writerEpoch: Gauge<'service'>;
  /** Rollbacks of the chain that were unwound. */
  readonly rollbacks: Counter<'service'>;
  /** Parts of blocks that could not be read and were skipped or repaired. */
  readonly problems: Counter<'service' | 'kind'>;
  /** How often a bound was reached, by the setting that names the bound; or by the call, of which one runs at a time. */
  readonly limits: Counter<'service' | 'limit'>;
  /** Rich list: balances compared with the node's, and those that were found to differ and set right. */
  readonly comparedBalances: Counter;
  readonly healedBalances: Counter;
  /** Rich list: balances read from the node to begin with, growing while that is under way. */
  readonly seededBalances: Gauge;
  /** Rich list: tokens whose logs were ever found not to tell the truth. */
  readonly driftingTokens: Gauge;
  readonly nodeRequests: Counter<'api' | 'host'>;
  /** Failed requests to the node by its host and what went wrong. */
  readonly nodeErrors: Counter<'api' | 'host' | 'reason'>;
  readonly nodeSeconds: Histogram<'api'>;
  /** Database statements by kind (read, write) including the wait for their turn. */
  readonly querySeconds: Histogram<'service' | 'statement'>;
  readonly queryErrors: Counter<'service' | 'statement'>;
  readonly rpcSeconds: Histogram<'method' | 'code'>;
  readonly httpSeconds: Histogram<'route' | 'status'>;
  /** Answers by where they came from: hit, miss, joined (an equal request was in flight), bypass. */
  readonly cache: Counter<'result'>;
  readonly cacheBytes: Gauge;
  /** Lets a part of a service say how many bytes of memory it holds; it is asked whenever metrics are read. */
  readonly holds: (service: string, part: string, bytes: () => number) => void;
  /** Facts that were looked for on local disk: hit, miss. */
  readonly facts: Counter<'service' | 'result'>;
  readonly factBytes: Gauge<'service'>;
  /** When the certificate that services show each other ends, in seconds since the epoch. */
  readonly certificateExpiry: Gauge<'file'>;
}

/** Declares the metrics in a registry of their own. @param process whether to add Node's own metrics. */
export function createMetrics(process = false): Metrics {
  const registry = new Registry();
  if (process) collectDefaultMetrics({ register: registry, prefix: 'weft_' });
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `weft_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name: `weft_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Histogram({ name: `weft_${name}`, help, labelNames, registers, buckets: latencyBuckets });
  const parts = new Map<string, { service: string; part: string; bytes: () => number }>();
  const held = new Gauge({
    name: 'weft_held_bytes',
    help: 'Memory of what a service keeps at hand',
    labelNames: ['service', 'part'],
    registers,
    collect() {
      for (const { service, part, bytes } of parts.values()) held.set({ service, part }, bytes());
    },
  });
  return {
    registry,
    holds: (service, part, bytes) => {
      parts.set(`${service} ${part}`, { service, part, bytes });
    },
    height: gauge('height', 'Height that a track has reached', 'service', 'track'),
    lag: gauge('lag_blocks', 'Blocks between the tip of the node and the head of the service', 'service'),
    blocks: counter('blocks_total', 'Blocks written', 'service'),
    txs: counter('txs_total', 'Transactions written', 'service'),
    writerEpoch: gauge('writer_epoch', 'Number of the writer while this process writes', 'service'),
    rollbacks: counter('rollbacks_total', 'Rollbacks of the chain that were unwound', 'service'),
    problems: counter('problems_total', 'Parts of blocks that could not be read', 'service', 'kind'),
    limits: counter(
      'limit_reached_total',
      'How often a bound was reached, by its setting or call',
      'service',
      'limit',
    ),
    comparedBalances: counter('richlist_compared_balances_total', "Balances compared with the node's own"),
    healedBalances: counter('richlist_healed_balances_total', 'Balances that differed and were set right'),
    seededBalances: gauge('richlist_seeded_balances', 'Balances read from the node to begin with'),
    driftingTokens: gauge('richlist_drifting_tokens', 'Tokens whose logs do not tell the truth'),
    nodeRequests: counter('node_requests_total', 'Requests to the node', 'api', 'host'),
    nodeErrors: counter('node_errors_total', 'Failed requests to the node', 'api', 'host', 'reason'),
    nodeSeconds: histogram('node_request_seconds', 'Time of a request to the node', 'api'),
    querySeconds: histogram('query_seconds', 'Time of a statement with its wait', 'service', 'statement'),
    queryErrors: counter('query_errors_total', 'Failed statements', 'service', 'statement'),
    rpcSeconds: histogram('rpc_seconds', 'Time of a gRPC call on the server', 'method', 'code'),
    httpSeconds: histogram('http_request_seconds', 'Time of an HTTP request', 'route', 'status'),
    cache: counter('cache_total', 'Answers by where they came from', 'result'),
    cacheBytes: gauge('cache_bytes', 'Bytes of cached answers'),
    facts: counter('fact_cache_reads_total', 'Facts looked for on local disk', 'service', 'result'),
    factBytes: gauge('fact_cache_bytes', 'Bytes of facts on local disk', 'service'),
    certificateExpiry: gauge('certificate_expiry_seconds', 'When the certificate in use ends', 'file'),
  };
}
