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

/** What only the tx service is told. */
export const txOwnSettings = {
  BODY_CACHE_MB: {
    doc: 'Memory for the bodies of txs that were written or read last, in MiB; 0 for none.',
    default: '128',
    parse: asInteger(0, 65_536),
  },
} satisfies Settings;

/** Every setting of the tx service. */
export const txSettings = {
  ...logSettings,
  ...tableSettings,
  ...chainSettings,
  ...serverSettings,
  ...requestSettings,
  ...pageSettings,
  ...txOwnSettings,
  ...reindexSettings,
  REST_URL: {
    ...nodeSettings.REST_URL,
    doc: 'Cosmos REST URLs, separated by commas: asked on Move rollups for the owners of fungible stores that are older than the index.',
  },
  NODE_TIMEOUT_MS: nodeSettings.NODE_TIMEOUT_MS,
  NODE_ANSWER_MB: nodeSettings.NODE_ANSWER_MB,
  ...proxySettings,
  ...consumerSettings(7002),
} satisfies Settings;

/** Those, and what only a process of its own is told. */
export const txProgramSettings = { ...txSettings, ...programSettings };

export type TxConfig = ValuesOf<typeof txSettings>;
