import { blockOwnSettings, checkNode } from '../../services/block/config.js';
import {
  asInteger,
  asOneOf,
  loadSettings,
  type Settings,
  type ValuesOf,
} from '../../services/common/runtime/config.js';
import { logLevels } from '../../services/common/runtime/log.js';
import { proxySettings } from '../../services/common/runtime/network.js';
import {
  chainSettings,
  factSettings,
  nodeSettings,
  pageSettings,
  reindexSettings,
  requestSettings,
  serverSettings,
  tableSettings,
  writerSettings,
} from '../../services/common/runtime/settings.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { nftOwnSettings } from '../../services/nft/config.js';
import { richlistOwnSettings } from '../../services/richlist/config.js';
import { txOwnSettings } from '../../services/tx/config.js';

const {
  BLOCK_SERVICE_ADDR: _block,
  TX_SERVICE_ADDR: _tx,
  NFT_SERVICE_ADDR: _nft,
  RICHLIST_SERVICE_ADDR: _richlist,
  ...gatewayOwnSettings
} = gatewaySettings;

/** Settings of the one-process program: those of every service, and the ports of their gRPC. */
export const startSettings = {
  ...tableSettings,
  ...chainSettings,
  ...nodeSettings,
  ...proxySettings,
  ...serverSettings,
  ...writerSettings,
  ...requestSettings,
  ...pageSettings,
  ...factSettings,
  ...blockOwnSettings,
  ...txOwnSettings,
  ...nftOwnSettings,
  ...reindexSettings,
  ...richlistOwnSettings,
  ...gatewayOwnSettings,
  LOG_LEVEL: {
    doc: `The least level that is logged, to standard error: ${logLevels.join(', ')}.`,
    default: 'warn',
    parse: asOneOf(...logLevels),
  },
  BLOCK_GRPC_PORT: {
    doc: "Port of the block service's gRPC; 0 for any free one.",
    default: '7001',
    parse: asInteger(0, 65_535),
  },
  TX_GRPC_PORT: {
    doc: "Port of the tx service's gRPC; 0 for any free one.",
    default: '7002',
    parse: asInteger(0, 65_535),
  },
  NFT_GRPC_PORT: {
    doc: "Port of the nft service's gRPC; 0 for any free one.",
    default: '7003',
    parse: asInteger(0, 65_535),
  },
  HEAP_GROWTH_PERCENT: {
    doc: 'How far garbage may let the memory of the JavaScript heap grow between two collections, in percent of what is in use: less takes less memory and more processor time; 0 leaves it to Node.',
    default: '100',
    parse: asInteger(0, 1_000),
  },
  RICHLIST_GRPC_PORT: {
    doc: "Port of the richlist service's gRPC (EVM only); 0 for any free one.",
    default: '7004',
    parse: asInteger(0, 65_535),
  },
  REPLAY_INTERVAL_MS: {
    doc: 'How often the recorded rollup makes a block, in milliseconds (only without RPC_URL).',
    default: '2000',
    parse: asInteger(10, 3_600_000),
  },
} satisfies Settings;

export type StartConfig = ValuesOf<typeof startSettings>;

/** Whether the recorded rollup is wanted: no URL of a node is given, not even a wrong one. */
export const isRecorded = (
  config: Partial<Pick<StartConfig, 'RPC_URL' | 'REST_URL' | 'JSON_RPC_URL'>>,
): boolean => [config.RPC_URL, config.REST_URL, config.JSON_RPC_URL].every((urls) => urls?.length === 0);

/** Reads the settings. @throws ConfigError with all mistakes at once. */
export function loadStartConfig(env: Readonly<Record<string, string | undefined>>): StartConfig {
  return loadSettings(startSettings, env, (config) =>
    isRecorded(config) ? checkRecorded(config) : checkNode(config),
  );
}

function checkRecorded(config: Partial<StartConfig>): string[] {
  const mistakes: string[] = [];
  const hint =
    'without RPC_URL the recorded rollup is served; give RPC_URL, REST_URL and JSON_RPC_URL to index a real one';
  if (config.VM_TYPE !== undefined && config.VM_TYPE !== 'evm')
    mistakes.push(`VM_TYPE is "${config.VM_TYPE}", but the recorded rollup is an EVM one: ${hint}`);
  if (config.CHAIN_ID !== undefined && config.CHAIN_ID !== '')
    mistakes.push(`CHAIN_ID is ${JSON.stringify(config.CHAIN_ID)}, but no RPC_URL is set: ${hint}`);
  return mistakes;
}
