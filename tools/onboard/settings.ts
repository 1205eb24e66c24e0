import { asOneOf, asText, type Settings, type ValuesOf } from '../../services/common/runtime/config.js';
import { proxySettings } from '../../services/common/runtime/network.js';
import { chainSettings, nodeSettings } from '../../services/common/runtime/settings.js';
import {
  asAddressOrNone,
  sendSettings,
  signerSettings,
} from '../../services/scoring-operator/contract/settings.js';
import { l1Settings } from '../../services/scoring-operator/l1/settings.js';

const { EVM_CHAIN_ID } = sendSettings;
const { ACCOUNT_ADDRESS_PREFIX } = chainSettings;

/** What `weft onboard` reads from the environment. Nothing of it is needed: what is missing is what it says. */
export const onboardSettings = {
  ...nodeSettings,
  ...proxySettings,
  RPC_URL: { ...nodeSettings.RPC_URL, doc: 'CometBFT RPC URLs of the rollup, separated by commas.' },
  JSON_RPC_WS_URL: {
    doc: 'Websocket URL of the JSON-RPC, for the registry entry.',
    default: '',
    parse: asText,
  },
  EVM_CHAIN_ID,
  ACCOUNT_ADDRESS_PREFIX,
  ...l1Settings,
  ...signerSettings,
  NETWORK: {
    doc: 'Where the rollup takes part: mainnet (a proposal is posted) or testnet (the team of the program is asked).',
    default: 'mainnet',
    parse: asOneOf('mainnet', 'testnet'),
  },
  OPERATOR_ADDRESS: {
    doc: 'Account on the L1 that receives the rewards of the operator, bech32 or hex.',
    default: '',
    parse: asText,
  },
  DEPLOYER_ADDRESS: {
    doc: 'Account that deploys the contract and writes the scores; default: that of the signer.',
    default: '',
    parse: asAddressOrNone,
  },
  SCORE_CONTRACT: {
    doc: 'Address of the scoring contract; default: that of the record that deploy-contract wrote.',
    default: '',
    parse: asAddressOrNone,
  },
  ROLLUP_TOOL: {
    doc: "The rollup's command-line tool, whose version must be that of the rollup.",
    default: 'minitiad',
    parse: asText,
  },
} satisfies Settings;

/** What onboarding is told. */
export type OnboardConfig = ValuesOf<typeof onboardSettings>;
