import { blockSettings } from '../../services/block/config.js';
import { type BlockProcess, startBlock } from '../../services/block/main.js';
import { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import type { FaultPoint } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../services/common/runtime/metrics.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { testDatabase, uniquePrefix } from './database.js';
import type { endsAfterEach } from './suite.js';

/** A block service under test, with a client of it. */
export interface TestBlock {
  readonly service: BlockProcess;
  readonly client: BlockServiceClient;
  readonly metrics: Metrics;
  /** Resolves when a height is indexed. */
  reaches(height: number): Promise<void>;
  stop(): Promise<void>;
}

/** Settings that follow a replay node as fast as tests want it. */
export const nodeEnvironment = (node: ReplayNode, vm: string): Record<string, string> => ({
  RPC_URL: node.rpc_url,
  REST_URL: node.rest_url,
  JSON_RPC_URL: node.json_rpc_url,
  VM_TYPE: vm,
  POLL_INTERVAL_MS: '50',
  NODE_TIMEOUT_MS: '1000',
  TRACE_ATTEMPTS: '5',
  DECODED_ATTEMPTS: '3',
});

/** Starts a block service on tables of its own (or given ones) that follows a replay node. */
export async function startTestBlock(
  node: ReplayNode,
  options: { vm?: string; prefix?: string; env?: Record<string, string>; fault?: FaultPoint } = {},
): Promise<TestBlock> {
  const env = {
    ...nodeEnvironment(node, options.vm ?? 'evm'),
    CLICKHOUSE_DATABASE: options.prefix ?? uniquePrefix(),
    ...options.env,
  };
  const metrics = createMetrics();
  const service = await startBlock({
    config: loadSettings(blockSettings, env),
    database: await testDatabase(),
    log: createLog('silent'),
    metrics,
    addresses: ['127.0.0.1:0'],
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  });
  const client = connectRpc(BlockServiceClient, service.address);
  return {
    service,
    client,
    metrics,
    reaches: (height) => eventually(() => (service.head.last?.height ?? 0) >= height, `block ${height}`),
    async stop() {
      client.close();
      await service.stop();
    },
  };
}

/** Waits until a condition holds; fails after a while, naming what was waited for. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeout_ms = 45_000,
): Promise<void> {
  const end = Date.now() + timeout_ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Starts nodes and block services for the tests of a suite. @param endLater keeps how they end */
export const blockStarters = (endLater: ReturnType<typeof endsAfterEach>) => ({
  async startNode(...args: Parameters<typeof startReplayNode>): Promise<ReplayNode> {
    const node = await startReplayNode(...args);
    endLater(() => node.close());
    return node;
  },
  async start(...args: Parameters<typeof startTestBlock>): Promise<TestBlock> {
    const block = await startTestBlock(...args);
    return { ...block, stop: endLater(() => block.stop()) };
  },
});
