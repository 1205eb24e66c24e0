import { asInteger, type Settings, type ValuesOf } from '../common/config.js';
import { consumerSettings } from '../common/consumer-settings.js';
import { nodeSettings, pageSettings, programSettings } from '../common/settings.js';

/** What only the tx service is told. */
export const txOwnSettings = {
  BODY_CACHE_MB: {
    doc: 'Memory for the bodies of txs that were written or read last, in MiB; 0 for none.',
    default: '128',
    parse: asInteger(0, 65_536),
  },
} satisfies Settings;

/** Every setting of the tx service. */
export const txSettings = consumerSettings(
  7002,
  { ...pageSettings, ...txOwnSettings },
  {
    REST_URL: {
      ...nodeSettings.REST_URL,
      doc: 'Cosmos REST URLs, separated by commas: asked on Move rollups for the owners of fungible stores that are older than the index.',
    },
  },
);

/** Those, and what only a process of its own is told. */
export const txProgramSettings = { ...txSettings, ...programSettings };

export type TxConfig = ValuesOf<typeof txSettings>;
