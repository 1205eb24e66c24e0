import { consumerSettings } from '../common/consumer/settings.js';
import { asInteger, type Settings, type ValuesOf } from '../common/runtime/config.js';
import { nodeSettings, pageSettings, programSettings } from '../common/runtime/settings.js';
import { defaultTextLimits } from './text-limits.js';

/** What only the nft service is told. */
export const nftOwnSettings = {
  DETAIL_ATTEMPTS: {
    doc: 'How often the node may refuse to name a collection or the uri of a token before it is given up, until `weft retry-details`.',
    default: '4',
    parse: asInteger(1, 1_000),
  },
  NFT_REFRESH_MS: {
    doc: 'How long the uris of a range of tokens wait when a contract asks for them again (`BatchMetadataUpdate`) soon after the last time, in milliseconds: ranges of a collection are asked about together. 0: at once.',
    default: '60000',
    parse: asInteger(0, 86_400_000),
  },
  NFT_URI_BYTES: {
    doc: 'Longest uri of a token that is kept, in bytes: a longer one is cut. What is indexed already stays as it is until a rebuild.',
    default: String(defaultTextLimits.NFT_URI_BYTES),
    parse: asInteger(64, 1_048_576),
  },
  NFT_NAME_BYTES: {
    doc: 'Longest name of a collection that is kept, in bytes: a longer one is cut.',
    default: String(defaultTextLimits.NFT_NAME_BYTES),
    parse: asInteger(64, 65_536),
  },
  NFT_ID_BYTES: {
    doc: 'Longest token id, in bytes: a token whose id is longer is left out.',
    default: String(defaultTextLimits.NFT_ID_BYTES),
    parse: asInteger(128, 32_768),
  },
} satisfies Settings;

/** Every setting of the nft service. */
export const nftSettings = consumerSettings(
  7003,
  { ...pageSettings, ...nftOwnSettings },
  {
    REST_URL: {
      ...nodeSettings.REST_URL,
      doc: 'Cosmos REST URLs, separated by commas: asked for names and uris on Move and Wasm rollups.',
    },
    JSON_RPC_URL: {
      ...nodeSettings.JSON_RPC_URL,
      doc: 'EVM JSON-RPC URLs, separated by commas: asked for names and uris on EVM rollups.',
    },
  },
);

/** Those, and what only a process of its own is told. */
export const nftProgramSettings = { ...nftSettings, ...programSettings };

export type NftConfig = ValuesOf<typeof nftSettings>;
