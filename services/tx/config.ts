import { consumerSettings } from '../common/consumer/settings.js';
import { asInteger, type Settings, type ValuesOf } from '../common/runtime/config.js';
import { factSettings, nodeSettings, pageSettings, programSettings } from '../common/runtime/settings.js';
import { defaultAccountsPerTx } from './decode/accounts.js';

/** What only the tx service is told. */
export const txOwnSettings = {
  BODY_CACHE_MB: {
    doc: 'Memory for the bodies of txs that were written or read last, in MiB; 0 for none.',
    default: '128',
    parse: asInteger(0, 65_536),
  },
  ACCOUNTS_PER_TX: {
    doc: 'Accounts that one tx is listed under at most, and stores on Move. A tx of many transfers names some thousands; a text that a contract makes up can name one with every eight bytes.',
    default: String(defaultAccountsPerTx),
    parse: asInteger(1_000, 10_000_000),
  },
} satisfies Settings;

/** Every setting of the tx service. */
export const txSettings = consumerSettings(
  7002,
  { ...pageSettings, ...factSettings, ...txOwnSettings },
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
