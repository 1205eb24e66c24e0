import { blockSettings } from '../../services/block/config.js';
import { startBlock } from '../../services/block/main.js';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import type { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import type { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { type Stoppable, startTogether } from '../../services/common/runtime/lifecycle.js';
import type { Log } from '../../services/common/runtime/log.js';
import type { Metrics } from '../../services/common/runtime/metrics.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import type { FactClients } from '../../services/scoring-operator/policy/gather/clients.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import type { ReplayNode } from '../replay/node.js';

/** Every service that scores are made of, in this process. */
export interface Indexers extends Stoppable {
  readonly clients: FactClients;
  /** Their gRPC addresses, for other processes. */
  readonly addresses: Readonly<Record<keyof FactClients, string>>;
}

/** Starts them over a replayed rollup, on tables with a prefix of their own. */
export async function startIndexers(
  node: ReplayNode,
  tools: { readonly database: Database; readonly log: Log; readonly metrics: Metrics },
  prefix: string,
): Promise<Indexers> {
  const env = {
    RPC_URL: node.rpc_url,
    REST_URL: node.rest_url,
    JSON_RPC_URL: node.json_rpc_url,
    VM_TYPE: 'evm',
    POLL_INTERVAL_MS: '100',
    INTERNAL_TX: 'false',
    CLICKHOUSE_DATABASE: prefix,
  };
  return startTogether(async (stops) => {
    const addresses = ['127.0.0.1:0'];
    const block = await startBlock({ ...tools, config: loadSettings(blockSettings, env), addresses });
    stops.push(() => block.stop());
    const blocks = connectLocal<BlockServiceClient>(block.service);
    const shared = { ...tools, addresses, blocks };
    const tx = await startTx({ ...shared, config: loadSettings(txSettings, env) });
    stops.push(() => tx.stop());
    const nft = await startNft({ ...shared, config: loadSettings(nftSettings, env) });
    stops.push(() => nft.stop());
    const richlist = await startRichlist({ ...shared, config: loadSettings(richlistSettings, env) });
    stops.push(() => richlist.stop());
    return {
      clients: {
        block: blocks,
        tx: connectLocal<TxServiceClient>(tx.service),
        nft: connectLocal<NftServiceClient>(nft.service),
        richlist: connectLocal<RichlistServiceClient>(richlist.service),
      },
      addresses: { block: block.address, tx: tx.address, nft: nft.address, richlist: richlist.address },
    };
  });
}
