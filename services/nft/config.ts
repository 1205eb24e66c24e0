import { asInteger, asOneOf, asText, type Settings, type ValuesOf } from '../common/config.js';
import {
  chainSettings,
  databaseSettings,
  logSettings,
  nodeSettings,
  probeSettings,
  reindexSettings,
  serverSettings,
  transportSettings,
} from '../common/settings.js';

/** What only the nft service is told. */
export const nftOwnSettings = {
  DETAIL_ATTEMPTS: {
    doc: 'How often the node may refuse to name a collection or the uri of a token before it is given up, until `weft retry-details`.',
    default: '4',
    parse: asInteger(1, 1_000),
  },
} satisfies Settings;

/** Every setting of the nft service. */
export const nftSettings = {
  ...logSettings,
  ...databaseSettings,
  ...chainSettings,
  ...serverSettings,
  ...nftOwnSettings,
  ...reindexSettings,
  REST_URL: {
    ...nodeSettings.REST_URL,
    doc: 'Cosmos REST URLs, separated by commas: asked for names and uris on Move and Wasm rollups.',
  },
  JSON_RPC_URL: {
    ...nodeSettings.JSON_RPC_URL,
    doc: 'EVM JSON-RPC URLs, separated by commas: asked for names and uris on EVM rollups.',
  },
  NODE_TIMEOUT_MS: nodeSettings.NODE_TIMEOUT_MS,
  ROLE: {
    doc: 'What this process does: ingest (write the tables; one process), serve (answer calls; any number) or all.',
    default: 'all',
    parse: asOneOf('all', 'ingest', 'serve'),
  },
  GRPC_PORT: { doc: 'Port of gRPC; 0 for any free one.', default: '7003', parse: asInteger(0, 65_535) },
  BLOCK_SERVICE_ADDR: {
    doc: 'gRPC address of the block service: host:port, dns:///name:port or unix:/path.',
    default: '127.0.0.1:7001',
    parse: asText,
  },
} satisfies Settings;

/** Those, and what only a process of its own is told. */
export const nftProgramSettings = { ...nftSettings, ...probeSettings, ...transportSettings };

export type NftConfig = ValuesOf<typeof nftSettings>;
