import type { Database } from '../../services/common/clickhouse/database.js';
import {
  type Holder,
  RichlistServiceClient,
} from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../services/common/runtime/metrics.js';
import type { ServiceProcess } from '../../services/common/runtime/service.js';
import { richlistSettings } from '../../services/richlist/config.js';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { transferTopic } from '../../services/richlist/decode/transfers.js';
import { startRichlist } from '../../services/richlist/main.js';
import { eventually } from './block.js';
import { testDatabase, uniquePrefix } from './database.js';
import type { ModelBlock } from './richlist-model.js';
import { type NodeTroubles, type RichlistNode, startRichlistNode } from './richlist-node.js';
import { ask } from './rpc.js';
import { type BlockContent, type BlockSource, startBlockSource } from './tx-block-source.js';

/** A richlist service over a made-up chain and its node, all over real gRPC and HTTP. */
export interface TestService {
  readonly process: ServiceProcess;
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

/**
 * A block whose `evm` events make the same deltas: as transfers from those who lose to those
 * who gain as far as they go, the rest as mints and burns; spread over a tx that succeeded, one
 * that failed (it pays its fee), and what the block itself does.
 */
export function contentOf(
  { deltas }: Pick<DecodedBlock, 'deltas'>,
  extra: readonly string[] = [],
): BlockContent {
  const logs = [...deltas].flatMap(([token, accounts]) =>
    transfersOf(accounts).map((one) => logOf(token, one)),
  );
  const eventsOf = (values: readonly string[]) => [
    { type: 'evm', attributes: values.map((value) => ({ key: 'log', value, index: true })) },
  ];
  const txOf = (code: number, values: readonly string[]) => ({
    raw: Buffer.alloc(0),
    result: Buffer.from(JSON.stringify({ code, events: eventsOf(values) })),
    decoded: Buffer.from('{}'),
    decoded_locally: false,
  });
  const share = (n: number): string[] => logs.filter((_, index) => index % 3 === n);
  return {
    timestamp: '2026-01-01T00:00:00Z',
    tx_count: 2,
    material: {
      txs: [txOf(0, [...share(0), ...extra]), txOf(5, share(1))],
      receipts: Buffer.from('[]'),
      block_events: Buffer.from(JSON.stringify(eventsOf(share(2)))),
    },
  };
}

/** What moves from whom to whom; '' is nobody. */
interface Moved {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

function transfersOf(accounts: ReadonlyMap<string, bigint>): Moved[] {
  const moved: Moved[] = [];
  const losers = [...accounts]
    .filter(([, delta]) => delta < 0n)
    .map(([account, delta]) => ({ account, left: -delta }));
  for (const [to, delta] of accounts) {
    if (delta < 0n) continue;
    let left = delta;
    for (const loser of losers) {
      if (loser.left === 0n || left === 0n) continue;
      let amount = left;
      if (loser.left < left) amount = loser.left;
      moved.push({ from: loser.account, to, amount });
      loser.left -= amount;
      left -= amount;
    }
    // Somebody whose balance stays is touched all the same.
    if (left > 0n || delta === 0n) moved.push({ from: '', to, amount: left });
  }
  for (const { account, left } of losers) if (left > 0n) moved.push({ from: account, to: '', amount: left });
  return moved;
}

const logOf = (token: string, { from, to, amount }: Moved): string =>
  JSON.stringify({
    address: `0x${token}`,
    topics: [`0x${transferTopic}`, word(from), word(to)],
    data: word(amount.toString(16)),
  });

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
          const { rich_list_height } = await ask(client).getStatus({});
          return rich_list_height === height;
        },
        `height ${height}`,
        30_000,
      ),
    holders: async (denom) => (await ask(client).listHolders({ denom, pagination })).holders,
    async stop() {
      client.close();
      await process.stop();
      await source.close();
      await node.close();
    },
  };
}
