import { asInteger, type Settings, type ValuesOf } from '../common/config.js';
import { consumerSettings } from '../common/consumer-settings.js';
import { proxySettings } from '../common/http-proxy.js';
import {
  chainSettings,
  logSettings,
  nodeSettings,
  pageSettings,
  programSettings,
  reindexSettings,
  requestSettings,
  serverSettings,
  tableSettings,
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
  ...tableSettings,
  ...chainSettings,
  ...serverSettings,
  ...requestSettings,
  ...pageSettings,
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
  ...proxySettings,
  ...consumerSettings(7003),
} satisfies Settings;

/** Those, and what only a process of its own is told. */
export const nftProgramSettings = { ...nftSettings, ...programSettings };

export type NftConfig = ValuesOf<typeof nftSettings>;
