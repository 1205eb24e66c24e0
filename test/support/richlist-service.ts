import type { Database } from '../../services/common/clickhouse/database.js';
import { loadSettings } from '../../services/common/config.js';
import type { ConsumerProcess } from '../../services/common/consumer-service.js';
import type { Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics, type Metrics } from '../../services/common/metrics.js';
import { callRpc, connectRpc } from '../../services/common/rpc/client.js';
import { richlistSettings } from '../../services/richlist/config.js';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { transferTopic } from '../../services/richlist/decode/transfers.js';
import { startRichlist } from '../../services/richlist/main.js';
import { eventually } from './block.js';
import { testDatabase, uniquePrefix } from './database.js';
import type { ModelBlock } from './richlist-model.js';
import { type NodeTroubles, type RichlistNode, startRichlistNode } from './richlist-node.js';
import { type BlockContent, type BlockSource, startBlockSource } from './tx-block-source.js';

/** A richlist service over a made-up chain and its node, all over real gRPC and HTTP. */
export interface TestService {
  readonly process: ConsumerProcess;
  readonly client: RichlistServiceClient;
  readonly metrics: Metrics;
  readonly source: BlockSource;
  readonly node: RichlistNode;
  /** Adds blocks to the chain. */
  grow(blocks: readonly ModelBlock[]): void;
  /** Cuts the chain, as a rollback does. */
  cutTo(height: number): void;
  reaches(height: number): Promise<void>;
  holders(denom: string): Promise<Holder[]>;
  stop(): Promise<void>;
}

const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;

/** A block whose `evm` events make the same deltas: each as a mint or a burn. */
export function contentOf(
  { deltas }: Pick<DecodedBlock, 'deltas'>,
  extra: readonly string[] = [],
): BlockContent {
  const logs = [...deltas].flatMap(([token, accounts]) =>
    [...accounts].map(([account, delta]) =>
      JSON.stringify({
        address: `0x${token}`,
        topics: [`0x${transferTopic}`, word(delta < 0n ? account : ''), word(delta < 0n ? '' : account)],
        data: word((delta < 0n ? -delta : delta).toString(16)),
      }),
    ),
  );
  const attributes = [...logs, ...extra].map((value) => ({ key: 'log', value, index: true }));
  const result = { code: 0, events: [{ type: 'evm', attributes }] };
  return {
    timestamp: '2026-01-01T00:00:00Z',
    tx_count: 1,
    material: {
      txs: [
        {
          raw: Buffer.alloc(0),
          result: Buffer.from(JSON.stringify(result)),
          decoded: Buffer.from('{}'),
          decoded_locally: false,
        },
      ],
      receipts: Buffer.from('[]'),
      block_events: Buffer.from('[]'),
    },
  };
}

/**
 * Starts a service.
 *
 * @param extra logs besides those of the model, by height.
 */
export async function startTestService(
  blocks: ModelBlock[],
  options: {
    env?: Record<string, string>;
    database?: Database;
    extra?: (height: number) => readonly string[];
    fault?: (point: string) => void | Promise<void>;
    /** The node's from the start. */
    troubles?: NodeTroubles;
  } = {},
): Promise<TestService> {
  const source = await startBlockSource({
    contentOf: (height) => contentOf(blocks[height - 1] as ModelBlock, options.extra?.(height)),
  });
  const grow = (more: readonly ModelBlock[]): void => {
    blocks.push(...more);
    source.grow(more.length, more[0]?.hash.slice(0, 1) ?? 'x');
  };
  source.grow(blocks.length, 'x');
  const node = await startRichlistNode(
    (height) => blocks[height - 1]?.truth,
    () => blocks.length,
  );
  node.troubles(options.troubles ?? {});
  const metrics = createMetrics();
  const process = await startRichlist({
    config: loadSettings(richlistSettings, {
      CLICKHOUSE_DATABASE: uniquePrefix(),
      BLOCK_SERVICE_ADDR: source.address,
      REST_URL: node.url,
      JSON_RPC_URL: node.url,
      NODE_TIMEOUT_MS: '2000',
      SHUTDOWN_GRACE_MS: '500',
      RECONCILE_INTERVAL_MS: '0',
      ...options.env,
    }),
    database: options.database ?? (await testDatabase()),
    log: createLog('silent'),
    metrics,
    addresses: ['127.0.0.1:0'],
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  });
  const client = connectRpc(RichlistServiceClient, process.address);
  const pagination = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };
  return {
    process,
    client,
    metrics,
    source,
    node,
    grow,
    cutTo(height) {
      blocks.length = height;
      source.cutTo(height);
    },
    reaches: (height) =>
      eventually(
        async () => {
          const { rich_list_height } = await callRpc(client.getStatus.bind(client), {});
          return rich_list_height === height;
        },
        `height ${height}`,
        30_000,
      ),
    holders: async (denom) => (await callRpc(client.listHolders.bind(client), { denom, pagination })).holders,
    async stop() {
      client.close();
      await process.stop();
      await source.close();
      await node.close();
    },
  };
}
