import { join } from 'node:path';
import { blockSettings } from '../../services/block/config.js';
import { type BlockProcess, startBlock } from '../../services/block/main.js';
import type { Database } from '../../services/common/clickhouse/database.js';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import type { OnFatal } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../services/common/runtime/metrics.js';
import type { ServiceProcess } from '../../services/common/runtime/service.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { type Gateway, startGateway } from '../../services/gateway/main.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from './block.js';
import { testDatabase, uniquePrefix } from './database.js';
import { temporaryFolder } from './folder.js';
import { ask } from './rpc.js';

/** Every service over one replay node, as in the one-process program. */
export interface Stack {
  /** Base URL of the HTTP API. */
  readonly url: string;
  readonly block: BlockProcess;
  /** What the gRPC of the services that can be rebuilt listens on. */
  readonly addresses: Readonly<Record<'tx' | 'nft' | 'richlist', string>>;
  /** A client of the nft service. */
  readonly nft: NftServiceClient;
  readonly tx: ServiceProcess;
  readonly nftService: ServiceProcess;
  readonly richlistService: ServiceProcess;
  /** A client of the richlist service. */
  readonly richlist: RichlistServiceClient;
  readonly metrics: Metrics;
  /** Fetches a path and parses the JSON; fails unless the status is the expected one (default 200). */
  get<T = Record<string, unknown>>(path: string, status?: number): Promise<T>;
  /** Resolves when blocks, txs and (on EVM) the rich list are served up to a height, and the traces with `traces`. */
  reaches(height: number, traces?: boolean): Promise<void>;
  /** Resolves when NFTs are served up to a height, and the node was asked for all of their details. */
  knowsNfts(height: number): Promise<void>;
  stop(): Promise<void>;
}

export interface StackOptions {
  readonly vm?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly database?: Database;
  readonly fault?: (point: string) => void | Promise<void>;
  readonly onFatal?: OnFatal;
}

/** Starts every service on tables of its own. */
export async function startStack(node: ReplayNode, options: StackOptions = {}): Promise<Stack> {
  const sockets = temporaryFolder('sockets');
  const local = (name: string): string => `unix:${join(sockets, name)}`;
  const env = {
    ...nodeEnvironment(node, options.vm ?? 'evm'),
    CLICKHOUSE_DATABASE: uniquePrefix(),
    PORT: '0',
    BLOCK_SERVICE_ADDR: local('block'),
    TX_SERVICE_ADDR: local('tx'),
    NFT_SERVICE_ADDR: local('nft'),
    RICHLIST_SERVICE_ADDR: local('richlist'),
    ...options.env,
  };
  const metrics = createMetrics();
  const shared = {
    ...{ database: options.database ?? (await testDatabase()), log: createLog('silent'), metrics },
    ...(options.onFatal === undefined ? {} : { onFatal: options.onFatal }),
    ...(options.fault === undefined ? {} : { fault: options.fault }),
  };
  const of = (name: string) => ({ ...shared, addresses: [local(name)] });
  const block = await startBlock({ ...of('block'), config: loadSettings(blockSettings, env) });
  const tx = await startTx({ ...of('tx'), config: loadSettings(txSettings, env) });
  const nft = await startNft({ ...of('nft'), config: loadSettings(nftSettings, env) });
  const richlist = await startRichlist({ ...of('richlist'), config: loadSettings(richlistSettings, env) });
  const gateway: Gateway = await startGateway({ ...shared, config: loadSettings(gatewaySettings, env) });
  const nftClient = connectRpc(NftServiceClient, local('nft'));
  const url = `http://127.0.0.1:${gateway.port}`;
  const get = async <T>(path: string, status = 200): Promise<T> => {
    const response = await fetch(url + path);
    const text = await response.text();
    if (response.status !== status)
      throw new Error(`GET ${path}: ${response.status} instead of ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as T;
  };
  return {
    url,
    block,
    addresses: { tx: tx.address, nft: local('nft'), richlist: local('richlist') },
    nft: nftClient,
    tx,
    nftService: nft,
    richlistService: richlist,
    richlist: connectLocal<RichlistServiceClient>(richlist.service),
    metrics,
    get,
    reaches: (height, traces = false) =>
      eventually(
        async () => {
          const status =
            await get<Record<'height' | 'internal_tx_height' | 'rich_list_height', number>>('/status');
          const isListed = (options.vm ?? 'evm') !== 'evm' || status.rich_list_height >= height;
          return status.height >= height && isListed && (!traces || status.internal_tx_height >= height);
        },
        `height ${height}`,
        30_000,
      ),
    knowsNfts: (height) =>
      eventually(
        async () => {
          const status = await ask(nftClient).getStatus({});
          return status.height >= height && status.details_height >= height;
        },
        `the NFTs of height ${height}`,
        30_000,
      ),
    async stop() {
      nftClient.close();
      await gateway.stop();
      await nft.stop();
      await richlist.stop();
      await tx.stop();
      await block.stop();
    },
  };
}
