import { asBoolean, asInteger, asOneOf, type Settings, type ValuesOf } from '../common/runtime/config.js';
import { proxySettings } from '../common/runtime/network.js';
import {
  chainSettings,
  factSettings,
  logSettings,
  nodeSettings,
  pageSettings,
  programSettings,
  requestSettings,
  serverSettings,
  tableSettings,
  writerSettings,
} from '../common/runtime/settings.js';

/** What only the block service is told. */
export const blockOwnSettings = {
  START_HEIGHT: {
    doc: 'Height to begin with on empty tables; 0 means with the first block that the node has.',
    default: '0',
    parse: asInteger(0),
  },
  FETCH_CONCURRENCY: {
    doc: 'Blocks that are fetched from the node at once.',
    default: '30',
    parse: asInteger(1, 256),
  },
  NODE_BATCH: {
    doc: 'JSON-RPC calls that are sent to the node in one request while catching up; CometBFT takes up to 10 unless told otherwise. 1 switches batches off. A node that refuses them is sent single calls.',
    default: '10',
    parse: asInteger(1, 100),
  },
  NODE_BLOCK_MB: {
    doc: 'Largest answer of the node about one block (the block, its results, its receipts, its decoded txs, its traces), in MiB; its JSON may have one value for 24 of these bytes, and a million in any case. No block is left out: at one whose answer is larger the service stops, is not ready, and names it. Traces that are larger count as unavailable.',
    default: '128',
    parse: asInteger(1, 240),
  },
  POLL_INTERVAL_MS: {
    doc: 'How often the node is asked for its tip while its websocket is silent, in milliseconds.',
    default: '1000',
    parse: asInteger(50, 600_000),
  },
  DECODED_ATTEMPTS: {
    doc: "How often the node's REST API is asked for a tx that it misses, before the tx is decoded from its bytes.",
    default: '6',
    parse: asInteger(1, 1_000),
  },
  INTERNAL_TX: { doc: 'Whether call traces are fetched (EVM only).', default: 'true', parse: asBoolean },
  TRACE_CONCURRENCY: { doc: 'Blocks that are traced at once.', default: '10', parse: asInteger(1, 64) },
  TRACE_ATTEMPTS: {
    doc: 'How often the node may fail to trace a block before that block stays without internal txs.',
    default: '30',
    parse: asInteger(1, 1_000_000),
  },
  TAIL_MB: {
    doc: 'Memory for the newest blocks, from which consumers are served, in MiB.',
    default: '32',
    parse: asInteger(1, 4_096),
  },
} satisfies Settings;

/** Every setting of the block service. */
export const blockSettings = {
  ...logSettings,
  ...tableSettings,
  ...chainSettings,
  ...nodeSettings,
  ...proxySettings,
  ...serverSettings,
  ...requestSettings,
  ...pageSettings,
  ...factSettings,
  ...blockOwnSettings,
  ...writerSettings,
  ROLE: {
    doc: 'What this process does: ingest (follow the chain; one process), serve (answer calls; any number) or all.',
    default: 'all',
    parse: asOneOf('all', 'ingest', 'serve'),
  },
  GRPC_PORT: { doc: 'Port of gRPC; 0 for any free one.', default: '7001', parse: asInteger(0, 65_535) },
} satisfies Settings;

/** Those, and what only a process of its own is told. */
export const blockProgramSettings = { ...blockSettings, ...programSettings };

export type BlockConfig = ValuesOf<typeof blockSettings>;

/** Mistakes that only show in the whole; settings that are wrong by themselves are absent. */
export function checkNode(
  config: Partial<Pick<BlockConfig, 'RPC_URL' | 'REST_URL' | 'JSON_RPC_URL' | 'VM_TYPE'>>,
): string[] {
  const mistakes: string[] = [];
  if (config.RPC_URL?.length === 0) mistakes.push('RPC_URL is not set: it must be one or more http(s) URLs');
  if (config.REST_URL?.length === 0)
    mistakes.push('REST_URL is not set: it must be one or more http(s) URLs');
  if (config.VM_TYPE === 'evm' && config.JSON_RPC_URL?.length === 0) {
    mistakes.push('JSON_RPC_URL is not set: an EVM rollup (VM_TYPE evm) needs one or more http(s) URLs');
  }
  return mistakes;
}
