import { join } from 'node:path';
import { blockSettings } from '../../services/block/config.js';
import { startBlock } from '../../services/block/main.js';
import { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import type { FactClients } from '../../services/scoring-operator/policy/gather/clients.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from './block.js';
import { testDatabase, uniquePrefix } from './database.js';
import { temporaryFolder } from './folder.js';
import { ask } from './rpc.js';

/** The services that scores are worked out from, over one replay node and real gRPC. */
export interface FactServices {
  readonly clients: FactClients;
  /** Resolves when all of them have indexed a height. */
  reaches(height: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the services on tables of their own. Rich list and NFTs only on EVM. */
export async function startFactServices(
  node: ReplayNode,
  vm = 'evm',
  more: Readonly<Record<string, string>> = {},
): Promise<FactServices> {
  const sockets = temporaryFolder('facts');
  const local = (name: string): string => `unix:${join(sockets, name)}`;
  const env = {
    ...nodeEnvironment(node, vm),
    CLICKHOUSE_DATABASE: uniquePrefix(),
    BLOCK_SERVICE_ADDR: local('block'),
    SHUTDOWN_GRACE_MS: '500',
    ...more,
  };
  const shared = { database: await testDatabase(), log: createLog('silent'), metrics: createMetrics() };
  const at = (name: string) => ({ ...shared, addresses: [local(name)] });
  const running = [await startBlock({ ...at('block'), config: loadSettings(blockSettings, env) })];
  running.push((await startTx({ ...at('tx'), config: loadSettings(txSettings, env) })) as never);
  if (vm === 'evm') {
    running.push(
      (await startRichlist({ ...at('richlist'), config: loadSettings(richlistSettings, env) })) as never,
    );
    running.push((await startNft({ ...at('nft'), config: loadSettings(nftSettings, env) })) as never);
  }
  const clients = {
    block: connectRpc(BlockServiceClient, local('block')),
    tx: connectRpc(TxServiceClient, local('tx')),
    richlist: connectRpc(RichlistServiceClient, local('richlist')),
    nft: connectRpc(NftServiceClient, local('nft')),
  };
  const heights = async (): Promise<number[]> => {
    const { tx, richlist, nft, block } = clients;
    const common = [(await ask(block).getStatus({})).height, (await ask(tx).getStatus({})).height];
    if (vm !== 'evm') return common;
    return [
      ...common,
      (await ask(richlist).getStatus({})).rich_list_height,
      (await ask(nft).getStatus({})).height,
    ];
  };
  return {
    clients,
    reaches: (height) =>
      eventually(async () => Math.min(...(await heights())) >= height, `height ${height}`, 60_000),
    async stop() {
      for (const client of Object.values(clients)) client.close();
      for (const service of running.reverse()) await service.stop();
    },
  };
}
