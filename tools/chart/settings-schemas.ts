import { blockSettings } from '../../services/block/config.js';
import type { Settings } from '../../services/common/runtime/config.js';
import { proxySettings } from '../../services/common/runtime/network.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { nftSettings } from '../../services/nft/config.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { scoringSettings } from '../../services/scoring-operator/config.js';
import { jobPodSettings } from '../../services/scoring-operator/operator/job-settings.js';
import { type Schema, strict } from '../../services/scoring-operator/operator/setting-types.js';
import { txSettings } from '../../services/tx/config.js';
import { valueSchema } from './setting-schema.js';

/** What has a value of its own in the chart, or must be as the chart says. */
const ofTheChart: ReadonlySet<string> = new Set([
  ...['CHAIN_ID', 'VM_TYPE', 'ACCOUNT_ADDRESS_PREFIX', 'START_HEIGHT'],
  ...['RPC_URL', 'REST_URL', 'JSON_RPC_URL', 'NODE_TIMEOUT_MS'],
  ...[
    'CLICKHOUSE_URL',
    'CLICKHOUSE_USER',
    'CLICKHOUSE_PASSWORD',
    'CLICKHOUSE_CLUSTER',
    'CLICKHOUSE_DATABASE',
  ],
  // May hold a password, and are for Jobs as well: variables of `defaults.extraEnv`.
  ...Object.keys(proxySettings),
  ...['DATA_DIR', 'DB_DSN', 'MIGRATIONS', 'ROLE', 'LOG_LEVEL'],
  ...['HOST', 'PORT', 'GRPC_PORT', 'OPS_PORT', 'HEALTH_PORT'],
  ...['DRAIN_MS', 'SHUTDOWN_GRACE_MS', 'MAX_CONNECTION_AGE_MS'],
  ...['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE', 'GRPC_TLS_SERVER_NAME'],
  'GRPC_TLS_RELOAD_SECONDS',
  ...['GRPC_TOKEN', 'GRPC_TOKEN_FILE'],
  ...['BLOCK_SERVICE_ADDR', 'TX_SERVICE_ADDR', 'NFT_SERVICE_ADDR', 'RICHLIST_SERVICE_ADDR'],
  ...[
    'KUBERNETES_OPERATOR',
    'KUBERNETES_NAMESPACE',
    'JOB_IMAGE',
    'JOB_SERVICE_ACCOUNT',
    ...Object.keys(jobPodSettings),
    ...['JOB_TLS_SECRET', 'JOB_CA_CONFIGMAP', 'JOB_CA_SECRET', 'JOB_CA_KEY'],
    ...['WATCH_NAMESPACES', 'JOB_LEASE_NAMESPACE'],
    'SCORING_PROGRAM',
  ],
]);

/** The operator of programs signs and sends nothing: the pods of its Jobs do, which have variables of their own. */
const isOfSigning = (name: string): boolean => /^(PRIVATE_KEY|MNEMONIC|SIGNER_|EVM_CHAIN_ID|TX_)/.test(name);

/** Settings of a process that may be given by their own names. */
export function settingsSchema(settings: Settings): Schema {
  const names = Object.entries(settings).filter(([name]) => !ofTheChart.has(name) && !isOfSigning(name));
  return strict(
    Object.fromEntries(
      names.map(([name, { doc, default: fallback, parse }]) => [
        name,
        {
          ...(parse.takes === undefined
            ? { type: ['string', 'number', 'boolean'] }
            : valueSchema(parse.takes)),
          description: doc,
          default: fallback,
        },
      ]),
    ),
  );
}

/** Of every process, by its name in the values. */
export const settingsSchemas: Readonly<Record<string, Schema>> = {
  blockSettings: settingsSchema(blockSettings),
  txSettings: settingsSchema(txSettings),
  nftSettings: settingsSchema(nftSettings),
  richlistSettings: settingsSchema(richlistSettings),
  gatewaySettings: settingsSchema(gatewaySettings),
  scoringOperatorSettings: settingsSchema(scoringSettings),
};
