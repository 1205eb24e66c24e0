import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fetchStatus } from '../../services/common/chain/comet.js';
import {
  createEndpoints,
  type Endpoints,
  NodeError,
  parseNodeJson,
} from '../../services/common/chain/endpoints.js';
import { messageOf } from '../../services/common/runtime/errors.js';
import type { Log } from '../../services/common/runtime/log.js';
import type { Metrics } from '../../services/common/runtime/metrics.js';
import { createScoreContract } from '../../services/scoring-operator/contract/client.js';
import { fetchPrices, offerPrice } from '../../services/scoring-operator/contract/fees.js';
import {
  createEvmRpc,
  type EvmRpc,
  fetchChainId,
  fromQuantity,
} from '../../services/scoring-operator/contract/rpc.js';
import { createSigner } from '../../services/scoring-operator/contract/signer.js';
import { highestPrice } from '../../services/scoring-operator/contract/tx.js';
import { l1ModuleOf } from '../../services/scoring-operator/l1/settings.js';
import { asObject, fetchL1Stage, type ModuleStore } from '../../services/scoring-operator/l1/stage.js';
import {
  type BridgeInfo,
  fetchBridgeId,
  fetchBridgeInfos,
  registrationOf,
} from '../../services/scoring-operator/l1/views.js';
import { type LoadedPolicy, loadPolicy } from '../../services/scoring-operator/policy/load.js';
import { readRecords } from '../deploy-contract/record.js';
import type { OnboardConfig } from './settings.js';

/** Something that was looked for: found, not to be had and why, or undefined when nobody said where to look. */
export type Found<T> = { readonly value: T } | { readonly error: string } | undefined;

/** The value of something found. */
export const known = <T>(found: Found<T>): T | undefined =>
  found !== undefined && 'value' in found ? found.value : undefined;

/** What a contract says of itself. */
export interface ContractFacts {
  /** undefined for the oldest kind. */
  readonly init_stage: bigint | undefined;
  /** Whether the deployer may write; undefined without a deployer. */
  readonly is_allowed: boolean | undefined;
  /** Whether it has the stage that the L1 is in; undefined without an L1. */
  readonly has_stage: boolean | undefined;
}

/** Everything that onboarding looks at. */
export interface OnboardFacts {
  readonly config: OnboardConfig;
  /** What `abci_info` and `status` say. */
  readonly rollup: Found<{ readonly version: string; readonly chain_id: string }>;
  /** Version of the command-line tool that is installed. */
  readonly tool: Found<string>;
  readonly evm_chain_id: Found<bigint>;
  readonly l1: Found<ModuleStore>;
  readonly bridge_id: Found<bigint>;
  /** What the L1 has registered for the bridge: undefined within for nothing. */
  readonly registration: Found<{ readonly info: BridgeInfo | undefined }>;
  readonly fees: Found<{ readonly denom: string; readonly min_gas_price: string }>;
  /** Address of who deploys, and how it is known. */
  readonly deployer: Found<{ readonly address: string; readonly description: string }>;
  /** What the deployer has, and what gas costs, in wei. */
  readonly funds: Found<{ readonly balance: bigint; readonly gas_price: bigint }>;
  readonly contract_address: string;
  readonly contract: Found<ContractFacts>;
  /** Text of the registry entry. */
  readonly registry: Found<string>;
  readonly registry_path: string;
  readonly policy: Found<LoadedPolicy>;
}

/** Where files are, and what to log with. */
export interface LookOptions {
  /** Folder of records, of the registry entry and of the proposal. */
  readonly folder: string;
  readonly registry_path: string;
  readonly policy_path: string | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Looks at everything, and changes nothing. Never throws for what is not there. */
export async function lookAround(config: OnboardConfig, options: LookOptions): Promise<OnboardFacts> {
  const { log, metrics } = options;
  const shared = { log, metrics, timeout_ms: config.NODE_TIMEOUT_MS, connections: 4 };
  const rpc = createEndpoints('rpc', config.RPC_URL, shared);
  const rest = createEndpoints('rest', config.REST_URL, shared);
  const jsonRpc = createEndpoints('jsonrpc', config.JSON_RPC_URL, shared);
  const l1Rest = createEndpoints('rest', config.L1_REST_URL, shared);
  const evm = createEvmRpc(jsonRpc);
  const has = (endpoints: Endpoints): boolean => endpoints.urls.length > 0;
  const hasL1 = has(l1Rest) && config.VIP_MODULE_ADDRESS !== '';
  const module = l1ModuleOf(config);
  try {
    const [rollup, tool, evm_chain_id, l1, bridge_id, fees, deployer, policy] = await Promise.all([
      found(has(rpc), () => fetchVersion(rpc)),
      found(config.ROLLUP_TOOL !== '', () => toolVersion(config.ROLLUP_TOOL)),
      found(has(jsonRpc), () => fetchChainId(evm)),
      found(hasL1, () => fetchL1Stage(l1Rest, module)),
      found(has(rest), () => fetchBridgeId(rest)),
      found(has(rest), () => fetchFees(rest)),
      findDeployer(config),
      found(options.policy_path !== undefined, () =>
        loadPolicy(options.policy_path as string, config.ACCOUNT_ADDRESS_PREFIX),
      ),
    ]);
    const bridge = known(bridge_id);
    const registration = await found(hasL1 && bridge !== undefined, async () => ({
      info: registrationOf(await fetchBridgeInfos(l1Rest, module), bridge as bigint),
    }));
    const account = known(deployer)?.address;
    const contract_address = config.SCORE_CONTRACT || recorded(options.folder, known(evm_chain_id));
    const [funds, contract] = await Promise.all([
      found(has(jsonRpc) && account !== undefined, () => fetchFunds(evm, account as string)),
      found(has(jsonRpc) && contract_address !== '', () =>
        lookAtContract(evm, contract_address, account, known(l1)?.stage),
      ),
    ]);
    const { registry_path } = options;
    const registry = await found(existsSync(registry_path), async () => readFileSync(registry_path, 'utf8'));
    return {
      config,
      rollup,
      tool,
      evm_chain_id,
      l1,
      bridge_id,
      registration,
      fees,
      deployer,
      funds,
      contract_address,
      contract,
      registry,
      registry_path,
      policy,
    };
  } finally {
    await Promise.all([rpc, rest, jsonRpc, l1Rest].map((one) => one.close()));
  }
}

async function found<T>(is_known: boolean, look: () => Promise<T>): Promise<Found<T>> {
  if (!is_known) return undefined;
  try {
    return { value: await look() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function fetchVersion(rpc: Endpoints): Promise<{ version: string; chain_id: string }> {
  const version = await rpc.ask({ path: '/abci_info' }, (status, body) => {
    const response = asObject(
      asObject(asObject(parseNodeJson(status, body, 'abci_info'))['result'])['response'],
    );
    if (typeof response['version'] !== 'string') throw new NodeError('error_answer', 'abci_info: no version');
    return response['version'];
  });
  const { network } = await fetchStatus(rpc, new AbortController().signal);
  return { version, chain_id: network };
}

/** Runs `TOOL version`; tools of this family say it on either output. */
async function toolVersion(tool: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(tool, ['version'], { timeout: 10_000 });
  const version = /v?\d+\.\d+\.\d+[-+.\w]*/.exec(`${stdout}\n${stderr}`)?.[0];
  if (version === undefined) throw new Error(`${tool} version says no version`);
  return version;
}

async function fetchFees(rest: Endpoints): Promise<{ denom: string; min_gas_price: string }> {
  const ask = (path: string) =>
    rest.ask({ path }, (status, body) => {
      if (status !== 200) throw new NodeError('error_answer', `${path}: HTTP ${status}`);
      return asObject(asObject(parseNodeJson(status, body, path))['params']);
    });
  const [evm, opchild] = [await ask('/minievm/evm/v1/params'), await ask('/opinit/opchild/v1/params')];
  const denom = String(evm['fee_denom'] ?? '');
  const prices = Array.isArray(opchild['min_gas_prices']) ? opchild['min_gas_prices'].map(asObject) : [];
  const amount = prices.find((price) => price['denom'] === denom)?.['amount'];
  return { denom, min_gas_price: String(amount ?? '0') };
}

/** The account that is named, else the one of the signer; only its address is kept. */
async function findDeployer(config: OnboardConfig): Promise<OnboardFacts['deployer']> {
  if (config.DEPLOYER_ADDRESS !== '') {
    return { value: { address: config.DEPLOYER_ADDRESS, description: 'DEPLOYER_ADDRESS' } };
  }
  const { PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE, SIGNER_URL } = config;
  const sources = [PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE, SIGNER_URL];
  const is_named = sources.some((source) => source !== undefined && source !== '');
  return found(is_named, async () => {
    const { address, description } = await createSigner(config);
    return { address, description };
  });
}

async function fetchFunds(rpc: EvmRpc, account: string): Promise<{ balance: bigint; gas_price: bigint }> {
  const balance = fromQuantity(await rpc.call('eth_getBalance', [account, 'latest']), 'eth_getBalance');
  return { balance, gas_price: highestPrice(offerPrice(await fetchPrices(rpc))) };
}

async function lookAtContract(
  rpc: EvmRpc,
  address: string,
  account: string | undefined,
  stage: bigint | undefined,
): Promise<ContractFacts> {
  const contract = createScoreContract({ rpc, address, from: account ?? address });
  return {
    init_stage: await contract.initStage(),
    is_allowed: account === undefined ? undefined : await contract.isAllowed(account),
    has_stage: stage === undefined ? undefined : (await contract.stage(stage)) !== undefined,
  };
}

/** The newest record of this chain; '' for none. */
function recorded(folder: string, chain_id: bigint | undefined): string {
  if (chain_id === undefined) return '';
  const records = [...readRecords(folder, chain_id)].sort((a, b) => a.height - b.height);
  return records.at(-1)?.address ?? '';
}
