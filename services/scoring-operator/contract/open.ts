import {
  answerBound,
  createEndpoints,
  type EndpointOptions,
  type Endpoints,
} from '../../common/chain/endpoints.js';
import type { ValuesOf } from '../../common/runtime/config.js';
import { UserError } from '../../common/runtime/errors.js';
import type { nodeSettings } from '../../common/runtime/settings.js';
import type { ScoreSender } from '../machine/ports.js';
import { createScoreContract } from './client.js';
import type { ScoreContract } from './contract.js';
import { fetchRollupGasLimit } from './fees.js';
import { createEvmRpc, type EvmRpc, fetchChainId } from './rpc.js';
import { createScoreSender } from './score-sender.js';
import type { sendSettings, signerSettings } from './settings.js';
import { createSigner, type Signer } from './signer.js';
import { createTxSender, type TxSender } from './tx-sender.js';

/** The settings that a connection to the rollup's EVM needs. */
export type EvmConfig = ValuesOf<
  Pick<typeof nodeSettings, 'JSON_RPC_URL' | 'REST_URL' | 'NODE_TIMEOUT_MS' | 'NODE_ANSWER_MB'>
> &
  ValuesOf<Pick<typeof sendSettings, 'EVM_CHAIN_ID'>>;

/** The settings that sending needs. */
export type SendingConfig = EvmConfig & ValuesOf<typeof sendSettings> & ValuesOf<typeof signerSettings>;

/** What one of the URLs says. */
export interface UrlChainId {
  /** The URL in words, without its path or anything else that may hold a token. */
  readonly from: string;
  readonly id: bigint;
}

/** A connection to the rollup's EVM. */
export interface Evm {
  readonly rpc: EvmRpc;
  readonly chain_id: bigint;
  /** EVM chain ids that the URLs say, each for itself; those that do not answer are left out. */
  chainIds(): Promise<readonly UrlChainId[]>;
  /** The rollup's own limit of gas for a sender; 0n for none, or without REST_URL. @throws NodeError */
  rollupGasLimit(sender: string): Promise<bigint>;
  close(): Promise<void>;
}

type Tools = Pick<EndpointOptions, 'log' | 'metrics'> & { readonly signal?: AbortSignal | undefined };

/**
 * Connects to the rollup and looks at its chain id, which is compared here only when EVM_CHAIN_ID is given;
 * while stages are scored it is compared again and again, see `machine/chain.ts`.
 *
 * @throws UserError for another chain than the one given; NodeError, RpcAnswerError.
 */
export async function openEvm(config: EvmConfig, { log, metrics, signal }: Tools): Promise<Evm> {
  if (config.JSON_RPC_URL.length === 0) throw new UserError('JSON_RPC_URL is not set');
  const shared = {
    ...{ log, metrics, service: 'scoring', bound: answerBound(config) },
    ...{ timeout_ms: config.NODE_TIMEOUT_MS, connections: 4 },
  };
  const jsonRpc = createEndpoints('jsonrpc', config.JSON_RPC_URL, shared);
  const rest: Endpoints | undefined =
    config.REST_URL.length === 0 ? undefined : createEndpoints('rest', config.REST_URL, shared);
  // Each by itself: the next one is used while one fails, and may be of another chain.
  const each = config.JSON_RPC_URL.map((url) => createEndpoints('jsonrpc', [url], shared));
  const close = async (): Promise<void> => {
    await Promise.all([jsonRpc.close(), rest?.close(), ...each.map((one) => one.close())]);
  };
  try {
    const rpc = createEvmRpc(jsonRpc, signal);
    const chain_id = await fetchChainId(rpc);
    const wanted = config.EVM_CHAIN_ID;
    if (wanted !== undefined && wanted !== chain_id) {
      throw new UserError(
        `JSON_RPC_URL is of the chain with EVM chain id ${chain_id}, and EVM_CHAIN_ID is ${wanted}`,
      );
    }
    return {
      rpc,
      chain_id,
      async chainIds() {
        const asked = each.map(async (one, index): Promise<UrlChainId[]> => {
          const id = await fetchChainId(createEvmRpc(one, signal)).catch(() => undefined);
          return id === undefined ? [] : [{ from: nameOf(config.JSON_RPC_URL, index), id }];
        });
        return (await Promise.all(asked)).flat();
      },
      rollupGasLimit: async (sender) => (rest === undefined ? 0n : fetchRollupGasLimit(rest, sender, signal)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A URL in words: its host, and which of them it is where the host has several. */
function nameOf(urls: readonly string[], index: number): string {
  const hosts = urls.map((url) => new URL(url).host);
  const host = hosts[index] ?? '';
  return hosts.indexOf(host) === hosts.lastIndexOf(host) ? host : `${host} (JSON-RPC URL ${index + 1})`;
}

/** How often the chain is looked at while a tx is waited for, and how far its EVM index may lag. Milliseconds. */
const [poll_ms, index_lag_ms] = [1_000, 30_000];

type TxSettings = Pick<
  SendingConfig,
  'TX_STUCK_SECONDS' | 'TX_GIVE_UP_SECONDS' | 'TX_GAS_MARGIN_PERCENT' | 'TX_MAX_GAS_PRICE' | 'TX_MAX_FEE'
>;

/** The queue of the signer's txs, with the times and bounds of the settings. */
export function openTxSender(
  evm: Evm,
  signer: Signer,
  config: TxSettings,
  { log, metrics }: Pick<Tools, 'log' | 'metrics'>,
): TxSender {
  const { rpc, chain_id } = evm;
  return createTxSender({
    rpc,
    signer,
    chain_id,
    rollupGasLimit: () => evm.rollupGasLimit(signer.address),
    config: {
      stuck_ms: config.TX_STUCK_SECONDS * 1_000,
      give_up_ms: config.TX_GIVE_UP_SECONDS * 1_000,
      gas_margin_percent: config.TX_GAS_MARGIN_PERCENT,
      max_gas_price: config.TX_MAX_GAS_PRICE,
      max_fee: config.TX_MAX_FEE,
      poll_ms,
      index_lag_ms,
    },
    log,
    onLimit: (limit) => metrics.limits.inc({ service: 'scoring', limit }),
  });
}

/** A scoring contract with what writes to it. */
export interface OpenContract {
  readonly contract: ScoreContract;
  readonly sender: ScoreSender;
  readonly chain_id: bigint;
  readonly chainIds: Evm['chainIds'];
  /** Account that signs, 0x hex with checksum. */
  readonly account: string;
  /** What signs, in words for people. */
  readonly signer: string;
  close(): Promise<void>;
}

/**
 * Opens a scoring contract for reading and writing.
 *
 * @throws UserError for settings that cannot be; NodeError, RpcAnswerError, ContractError while something is not there.
 */
export async function openContract(
  config: SendingConfig,
  address: string,
  tools: Tools,
): Promise<OpenContract> {
  const evm = await openEvm(config, tools);
  try {
    const signer = await createSigner(config, tools.signal);
    const { rpc, chain_id } = evm;
    const contract = createScoreContract({ rpc, address, from: signer.address });
    const sender = createScoreSender({
      rpc,
      contract,
      sender: openTxSender(evm, signer, config, tools),
      max_scores: config.TX_MAX_SCORES,
      gas_margin_percent: config.TX_GAS_MARGIN_PERCENT,
    });
    return {
      contract,
      sender,
      chain_id,
      chainIds: evm.chainIds,
      account: signer.address,
      signer: signer.description,
      close: evm.close,
    };
  } catch (error) {
    await evm.close();
    throw error;
  }
}
