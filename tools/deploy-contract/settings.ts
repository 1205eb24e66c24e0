import { loadSettings, type Settings, type ValuesOf } from '../../services/common/runtime/config.js';
import { proxySettings } from '../../services/common/runtime/network.js';
import { nodeSettings } from '../../services/common/runtime/settings.js';
import { sendSettings, signerSettings } from '../../services/scoring-operator/contract/settings.js';
import { checkSignerSettings } from '../../services/scoring-operator/contract/signer.js';
import { l1Settings } from '../../services/scoring-operator/l1/settings.js';

function asStage(text: string): bigint | 'auto' | undefined {
  if (text === '') return undefined;
  if (text.toLowerCase() === 'auto') return 'auto';
  if (!/^\d{1,20}$/.test(text) || BigInt(text) === 0n || BigInt(text) >= 2n ** 64n) {
    throw new Error('must be a whole number above 0, or auto for the stage that the L1 is in');
  }
  return BigInt(text);
}

const {
  TX_STUCK_SECONDS,
  TX_GIVE_UP_SECONDS,
  TX_GAS_MARGIN_PERCENT,
  TX_MAX_GAS_PRICE,
  TX_MAX_FEE,
  EVM_CHAIN_ID,
} = sendSettings;
const { JSON_RPC_URL, REST_URL, NODE_TIMEOUT_MS, NODE_ANSWER_MB } = nodeSettings;

/** What `weft deploy-contract` reads from the environment. */
export const deploySettings = {
  JSON_RPC_URL,
  REST_URL: {
    ...REST_URL,
    doc: 'Cosmos REST URLs of the rollup, for its own limit of gas and who may deploy. Not needed, but then these are not checked.',
  },
  NODE_TIMEOUT_MS,
  NODE_ANSWER_MB,
  ...proxySettings,
  INIT_STAGE: {
    doc: 'First stage that the contract has scores of, or `auto` for the stage that the L1 is in.',
    default: '',
    parse: asStage,
  },
  ...signerSettings,
  EVM_CHAIN_ID,
  TX_STUCK_SECONDS,
  TX_GIVE_UP_SECONDS,
  TX_GAS_MARGIN_PERCENT,
  TX_MAX_GAS_PRICE,
  TX_MAX_FEE,
  ...l1Settings,
} satisfies Settings;

/** What a deployment is told. */
export type DeployConfig = ValuesOf<typeof deploySettings>;

/** Reads the settings of a deployment. @throws ConfigError with every mistake at once */
export function loadDeployConfig(env: Readonly<Record<string, string | undefined>>): DeployConfig {
  return loadSettings(deploySettings, env, (config) => {
    // What is wrong by itself is absent, and said already.
    const isWhole = Object.keys(signerSettings).every((name) => name in config);
    const mistakes = isWhole ? checkSignerSettings(config as DeployConfig) : [];
    if (config.JSON_RPC_URL?.length === 0) mistakes.push('JSON_RPC_URL is not set: where the rollup answers');
    if ('INIT_STAGE' in config && config.INIT_STAGE === undefined) {
      mistakes.push('INIT_STAGE is not set: the first stage to score, or auto for the one that the L1 is in');
    }
    if (config.INIT_STAGE === 'auto' && config.L1_REST_URL?.length === 0) {
      mistakes.push('INIT_STAGE is auto, which needs L1_REST_URL');
    }
    if ((config.L1_REST_URL?.length ?? 0) > 0 && config.VIP_MODULE_ADDRESS === '') {
      mistakes.push(
        "L1_REST_URL is set, which needs VIP_MODULE_ADDRESS: where the program's module is on that L1",
      );
    }
    return mistakes;
  });
}
