import { bech32 } from '@scure/base';
import { Wallet } from 'ethers';
import {
  answerBound,
  createEndpoints,
  type Endpoints,
  NodeError,
  parseNodeJson,
} from '../../services/common/chain/endpoints.js';
import type { Log } from '../../services/common/runtime/log.js';
import type { Metrics } from '../../services/common/runtime/metrics.js';
import { type Artifact, deployData } from '../../services/scoring-operator/contract/artifact.js';
import { ContractError } from '../../services/scoring-operator/contract/errors.js';
import {
  atLeast,
  fetchPrices,
  gasFor,
  leastLimit,
  offerPrice,
  requiredPrice,
} from '../../services/scoring-operator/contract/fees.js';
import type { Evm } from '../../services/scoring-operator/contract/open.js';
import { fromQuantity, RpcAnswerError } from '../../services/scoring-operator/contract/rpc.js';
import { highestPrice } from '../../services/scoring-operator/contract/tx.js';
import { l1ModuleOf } from '../../services/scoring-operator/l1/settings.js';
import { fetchL1Stage, type L1Module } from '../../services/scoring-operator/l1/stage.js';
import { fetchBridgeId, fetchBridgeInfos, registrationOf } from '../../services/scoring-operator/l1/views.js';
import type { DeployConfig } from './settings.js';

/** What a check found. `wrong` stops the deployment; `later` too, but may pass by itself. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong' | 'later';
  readonly text: string;
}

const ok = (text: string): Finding => ({ state: 'ok', text });
const note = (text: string): Finding => ({ state: 'note', text });
const wrong = (text: string): Finding => ({ state: 'wrong', text });
const later = (text: string): Finding => ({ state: 'later', text });

/** What is checked, and with what. */
export interface CheckInput {
  readonly config: DeployConfig;
  readonly evm: Evm;
  readonly artifact: Artifact;
  /** Account that deploys. */
  readonly deployer: string;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Turns a failure into a finding: what the node says no to is wrong, the connection may heal. */
export function failureOf(what: string, error: unknown): Finding {
  if (error instanceof NodeError) return later(`${what}: ${error.message}`);
  if (error instanceof RpcAnswerError) return wrong(error.explain(what).message);
  if (error instanceof ContractError) return wrong(error.message);
  throw error;
}

/** Gas that deploying takes. @throws NodeError; ContractError when it would fail */
export async function estimateDeploy({ evm, deployer }: CheckInput, data: string): Promise<bigint> {
  try {
    return fromQuantity(await evm.rpc.call('eth_estimateGas', [{ from: deployer, data }]), 'eth_estimateGas');
  } catch (error) {
    throw error instanceof RpcAnswerError ? error.explain('deploying') : error;
  }
}

/** Gas limit of the probe: enough for a transfer on every node that was seen. */
const probeGas = 200_000n;

/**
 * The node's own minimum price of gas in wei, which it names only when it refuses a tx; 0n where it names none. The tx
 * that it is sent for this cannot be executed: it spends what an account does not have that nobody knows.
 */
async function probeMinimumPrice({ rpc, chain_id }: Evm): Promise<bigint> {
  const nobody = Wallet.createRandom();
  const raw = await nobody.signTransaction({
    to: nobody.address,
    value: 1n,
    nonce: 0,
    gasLimit: probeGas,
    gasPrice: 0n,
    type: 0,
    chainId: chain_id,
  });
  try {
    await rpc.call('eth_sendRawTransaction', [raw], { attempts: 1 });
    return 0n;
  } catch (error) {
    if (!(error instanceof RpcAnswerError || error instanceof NodeError)) throw error;
    const message = error instanceof RpcAnswerError ? error.failure.message : '';
    return requiredPrice(message, 0n, probeGas) ?? 0n;
  }
}

/** Whether the deployer can pay: a balance of nothing is wrong only where gas has a price. */
export async function checkGas(input: CheckInput, stage: bigint): Promise<Finding[]> {
  const { evm, deployer, config, artifact } = input;
  try {
    const estimate = await estimateDeploy(input, deployData(artifact, stage));
    const prices = await fetchPrices(evm.rpc);
    const limits = { rollup: await evm.rollupGasLimit(deployer), block: prices.block_gas_limit };
    const gas = gasFor(estimate, config.TX_GAS_MARGIN_PERCENT, limits);
    if (gas === undefined) {
      return [
        wrong(`deploying takes ${estimate} gas, and a tx may have ${leastLimit(limits)} on this rollup`),
      ];
    }
    const least = await probeMinimumPrice(evm);
    const price = highestPrice(atLeast(offerPrice(prices), least));
    if (price === 0n) return [ok(`gas is free; deploying takes ${estimate}`)];
    const { TX_MAX_GAS_PRICE: most, TX_MAX_FEE } = config;
    if (price > most)
      return [wrong(`gas costs ${price} wei, and at most ${most} may be offered (TX_MAX_GAS_PRICE)`)];
    if (price * gas > TX_MAX_FEE)
      return [wrong(`the fee may be ${price * gas} wei, and at most ${TX_MAX_FEE} may be paid (TX_MAX_FEE)`)];
    const params = [deployer, 'latest'];
    const balance = fromQuantity(await evm.rpc.call('eth_getBalance', params), 'eth_getBalance');
    const cost = gas * price;
    const text = `${gas} gas at ${price} wei is up to ${cost} wei; ${deployer} has ${balance} wei`;
    return [balance < cost ? wrong(`${text}: send it ${cost - balance} wei more`) : ok(text)];
  } catch (error) {
    return [failureOf('estimating the deployment', error)];
  }
}

/** Whether the rollup lets this account deploy. Not checked without REST_URL. */
export async function checkPublisher({ config, deployer, log, metrics }: CheckInput): Promise<Finding[]> {
  if (config.REST_URL.length === 0) return [note('who may deploy is not checked: REST_URL is not set')];
  const rest = createEndpoints('rest', config.REST_URL, {
    log,
    metrics,
    timeout_ms: config.NODE_TIMEOUT_MS,
    bound: answerBound(config),
    connections: 2,
  });
  try {
    const publishers = await rest.ask({ path: '/minievm/evm/v1/params' }, readPublishers);
    if (publishers.length === 0) return [ok('everybody may deploy on this rollup')];
    const found = publishers.some((one) => hexOf(one) === deployer.toLowerCase());
    return found
      ? [ok(`${deployer} may deploy on this rollup`)]
      : [wrong(`only ${publishers.join(', ')} may deploy on this rollup, and ${deployer} is none of them`)];
  } catch (error) {
    return [failureOf('who may deploy', error)];
  } finally {
    await rest.close();
  }
}

function readPublishers(status: number, body: string): string[] {
  if (status === 404 || status === 501) return [];
  const answer = parseNodeJson(status, body, 'params of the EVM') as {
    params?: { allowed_publishers?: unknown };
  };
  if (status !== 200) throw new NodeError('error_answer', `params of the EVM: HTTP ${status}`);
  const publishers = answer.params?.allowed_publishers;
  return Array.isArray(publishers) ? publishers.map(String) : [];
}

/** Lower-case hex of an address that is hex or bech32 of any prefix; '' for neither. */
export function hexOf(address: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(address)) return address.toLowerCase();
  const decoded = bech32.decodeUnsafe(address, 90);
  const bytes = decoded && bech32.fromWordsUnsafe(decoded.words);
  return bytes?.length === 20 ? `0x${Buffer.from(bytes).toString('hex')}` : '';
}

/** The first stage, and what speaks for or against it. */
export interface StageChoice {
  /** undefined when it could not be found out. */
  readonly stage: bigint | undefined;
  readonly findings: readonly Finding[];
}

/** INIT_STAGE, or the stage that the L1 is in; compared with the L1 and with what it has registered where that can be read. */
export async function chooseStage({ config, log, metrics }: CheckInput): Promise<StageChoice> {
  const given = config.INIT_STAGE as bigint | 'auto';
  if (config.L1_REST_URL.length === 0) {
    const text = `INIT_STAGE ${given} is not compared with the L1: L1_REST_URL is not set`;
    return { stage: given as bigint, findings: [note(text)] };
  }
  const options = {
    ...{ log, metrics, timeout_ms: config.NODE_TIMEOUT_MS },
    ...{ bound: answerBound(config), connections: 2 },
  };
  const l1 = createEndpoints('rest', config.L1_REST_URL, options);
  try {
    const module = l1ModuleOf(config);
    const { stage: current } = await fetchL1Stage(l1, module);
    const stage = given === 'auto' ? current : given;
    const first =
      stage > current
        ? note(
            `INIT_STAGE is ${stage}, and the L1 is in stage ${current}: the contract takes no scores of stages before ${stage}`,
          )
        : stage < current
          ? note(
              `INIT_STAGE is ${stage}, and the L1 is in stage ${current}: ${current - stage} earlier stages have to be scored and finalized first`,
            )
          : ok(`the L1 is in stage ${current}`);
    return { stage, findings: [first, ...(await checkRegistration(config, l1, module, stage, options))] };
  } catch (error) {
    const finding = failureOf("the L1's stage", error);
    return { stage: given === 'auto' ? undefined : given, findings: [finding] };
  } finally {
    await l1.close();
  }
}

type Options = Parameters<typeof createEndpoints>[2];

async function checkRegistration(
  config: DeployConfig,
  l1: Endpoints,
  module: L1Module,
  stage: bigint,
  options: Options,
): Promise<Finding[]> {
  if (config.REST_URL.length === 0) return [];
  const rest = createEndpoints('rest', config.REST_URL, options);
  try {
    const bridge_id = await fetchBridgeId(rest);
    const info = registrationOf(await fetchBridgeInfos(l1, module), bridge_id);
    if (info === undefined) return [ok(`bridge ${bridge_id} is not registered with the program yet`)];
    const registered = `bridge ${bridge_id} is registered from stage ${info.init_stage} on with contract ${info.vip_l2_score_contract || '(none)'}`;
    if (stage > info.init_stage) {
      return [note(`${registered}: a contract that begins with stage ${stage} lacks the stages before it`)];
    }
    return [note(`${registered}: the new contract counts only once it is registered in its place`)];
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return [note(`what the L1 has registered could not be read: ${error.message}`)];
  } finally {
    await rest.close();
  }
}
