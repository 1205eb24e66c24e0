import { consumerSettings } from '../common/consumer/settings.js';
import { asInteger, type Settings, type ValuesOf } from '../common/runtime/config.js';
import { nodeSettings, programSettings } from '../common/runtime/settings.js';

/** What only the richlist service is told. */
export const richlistOwnSettings = {
  SEED_CONCURRENCY: {
    doc: "Accounts whose balances are asked for at once when the rich list begins with the node's state.",
    default: '16',
    parse: asInteger(1, 256),
  },
  RECONCILE_INTERVAL_MS: {
    doc: "How often balances that changed are compared with the node's own, in milliseconds; 0 for never.",
    default: '5000',
    parse: asInteger(0, 86_400_000),
  },
  RECONCILE_DRIFTING_MS: {
    doc: 'How often every holder of a token whose logs were found not to tell the truth is compared, in milliseconds.',
    default: '600000',
    parse: asInteger(100, 86_400_000),
  },
  BALANCE_BATCH: {
    doc: 'Balances that one JSON-RPC request asks the node for; a node that refuses is asked for fewer.',
    default: '200',
    parse: asInteger(1, 1_000),
  },
} satisfies Settings;

/** Every setting of the richlist service. */
export const richlistSettings = consumerSettings(7004, richlistOwnSettings, {
  REST_URL: {
    ...nodeSettings.REST_URL,
    doc: 'Cosmos REST URLs, separated by commas: asked for the balances before the first block, and for the denoms of tokens.',
  },
  JSON_RPC_URL: {
    ...nodeSettings.JSON_RPC_URL,
    doc: 'EVM JSON-RPC URLs, separated by commas: balances are compared with what they say.',
  },
});

/** Those, and what only a process of its own is told. */
export const richlistProgramSettings = { ...richlistSettings, ...programSettings };

export type RichlistConfig = ValuesOf<typeof richlistSettings>;

/** Mistakes that only show in the whole: the writer cannot begin without the node. */
export function checkRichlist(
  config: Partial<Pick<RichlistConfig, 'ROLE' | 'VM_TYPE' | 'REST_URL' | 'JSON_RPC_URL'>>,
): string[] {
  if (config.ROLE === 'serve' || config.VM_TYPE !== 'evm') return [];
  return (['REST_URL', 'JSON_RPC_URL'] as const)
    .filter((name) => config[name]?.length === 0)
    .map((name) => `${name} is not set: the rich list needs one or more http(s) URLs`);
}
