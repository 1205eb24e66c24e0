import {
  type ConsumerDependencies,
  type ConsumerService,
  startConsumer,
} from '../common/consumer/service.js';
import { checkTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { isMainModule } from '../common/runtime/paths.js';
import { runService, type ServiceProcess } from '../common/runtime/service.js';
import { type NftConfig, nftProgramSettings } from './config.js';
import { nftService } from './rpc.js';
import { createShower } from './show.js';
import { type NftTables, rebuildableNft } from './tables.js';

const nft: ConsumerService<NftConfig, NftTables> = {
  name: 'nft',
  node: ({ REST_URL, JSON_RPC_URL }) => ({ rest: REST_URL, jsonRpc: JSON_RPC_URL, connections: 8 }),
  tables: rebuildableNft,
  api: ({ config, current, ...options }) =>
    nftService({
      ...options,
      show: createShower(config.VM_TYPE, config.ACCOUNT_ADDRESS_PREFIX),
      account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
      retryDetails: config.ROLE === 'serve' ? undefined : (collection) => current().retryDetails(collection),
    }),
};

/** Starts the nft service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export function startNft(dependencies: ConsumerDependencies<NftConfig>): Promise<ServiceProcess> {
  return startConsumer(nft, dependencies);
}

if (isMainModule(import.meta.url))
  await runService('nft', () => loadSettings(nftProgramSettings, process.env, checkTransport), startNft);
