import { loadSettings, type Settings, type ValuesOf } from '../../common/runtime/config.js';
import { proxySettings } from '../../common/runtime/network.js';
import { nodeSettings } from '../../common/runtime/settings.js';
import type { SendingConfig } from '../contract/open.js';
import { sendSettings, signerSettings } from '../contract/settings.js';
import type { Program } from './program.js';

/** What running a program takes from the environment: who signs, and how txs are sent. */
export const signingSettings = {
  ...signerSettings,
  ...sendSettings,
  NODE_TIMEOUT_MS: nodeSettings.NODE_TIMEOUT_MS,
  NODE_ANSWER_MB: nodeSettings.NODE_ANSWER_MB,
  ...proxySettings,
} satisfies Settings;

export type SigningConfig = ValuesOf<typeof signingSettings>;

/** Reads the signer's settings. @throws ConfigError with all mistakes at once, and no secret in it. */
export function loadSigning(env: Readonly<Record<string, string | undefined>>): SigningConfig {
  return loadSettings(signingSettings, env);
}

/** The settings that sending needs, with the URLs and the chain id of a program. */
export function sendingOf(program: Program, signing: SigningConfig): SendingConfig {
  const { json_rpc_urls, rest_urls, evm_chain_id, max_gas_price, max_tx_fee } = program.rollup;
  return {
    ...signing,
    JSON_RPC_URL: json_rpc_urls,
    REST_URL: rest_urls,
    TX_MAX_GAS_PRICE: max_gas_price ?? signing.TX_MAX_GAS_PRICE,
    TX_MAX_FEE: max_tx_fee ?? signing.TX_MAX_FEE,
    EVM_CHAIN_ID: evm_chain_id === undefined ? signing.EVM_CHAIN_ID : BigInt(evm_chain_id),
  };
}
