import assert from 'node:assert/strict';
import { AbiCoder, Contract, type ContractTransactionReceipt, concat, JsonRpcProvider, Wallet } from 'ethers';
import { createEndpoints, type Endpoints } from '../../services/common/chain/endpoints.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { type Artifact, readArtifact } from '../../services/scoring-operator/contract/artifact.js';
import { createScoreContract } from '../../services/scoring-operator/contract/client.js';
import type { ScoreContract } from '../../services/scoring-operator/contract/contract.js';
import { ContractError } from '../../services/scoring-operator/contract/errors.js';
import { createEvmRpc, type EvmRpc } from '../../services/scoring-operator/contract/rpc.js';
import { createScoreSender } from '../../services/scoring-operator/contract/score-sender.js';
import { hide, type Signer, signerOfKey } from '../../services/scoring-operator/contract/signer.js';
import { createTxSender, type SendConfig } from '../../services/scoring-operator/contract/tx-sender.js';
import type { ScoreSender, SendHooks } from '../../services/scoring-operator/machine/ports.js';
import type { Score } from '../../services/scoring-operator/policy/result.js';
import type { Anvil } from '../../tools/dev/anvil.js';

/** The kinds of contract: ours, one like those in use, and one like the oldest. */
export const kinds = {
  ours: { file: 'artifacts/ScoreContract.json', takes_stage: true },
  lenient: { file: 'test/artifacts/LenientScore.json', takes_stage: true },
  oldest: { file: 'test/artifacts/OldestScore.json', takes_stage: false },
} as const;

export type Kind = keyof typeof kinds;

/** Deploys a contract with the first account of the node; its address. */
export async function deployKind(anvil: Anvil, kind: Kind, stage = 5n, from = 0): Promise<string> {
  const artifact: Artifact = readArtifact(kinds[kind].file);
  const argument = AbiCoder.defaultAbiCoder().encode(['uint64'], [stage]);
  const data = kinds[kind].takes_stage ? concat([artifact.bytecode, argument]) : artifact.bytecode;
  const hash = await anvil.call('eth_sendTransaction', {
    from: anvil.accounts[from]?.address,
    data,
    gas: '0x500000',
    gasPrice: '0x0',
  });
  let receipt: Record<string, string> | null = null;
  while (receipt === null) {
    receipt = (await anvil.call('eth_getTransactionReceipt', hash)) as Record<string, string> | null;
    if (receipt === null) await sleep(20);
  }
  if (receipt['status'] !== '0x1') throw new Error(`deploying ${kind} failed`);
  return receipt['contractAddress'] as string;
}

/** A contract as ethers calls it, for what the client does not do. */
export function plainContract(anvil: Anvil, address: string, account = 0): Contract {
  const provider = new JsonRpcProvider(anvil.url, undefined, { cacheTimeout: -1, pollingInterval: 20 });
  const wallet = new Wallet(anvil.accounts[account]?.private_key as string, provider);
  return new Contract(address, readArtifact().abi as never, wallet);
}

/** Calls a function in a tx and gives the receipt. */
export async function transact(
  contract: Contract,
  name: string,
  ...args: unknown[]
): Promise<ContractTransactionReceipt> {
  const sent = await contract.getFunction(name).send(...args, { gasLimit: 29_000_000, gasPrice: 0, type: 0 });
  return (await sent.wait()) as ContractTransactionReceipt;
}

/** Address number i of a made-up population, lower case. */
export const addressOf = (i: number): string => `0x${(0xa000_0000 + i).toString(16).padStart(40, '0')}`;

/** Scores of so many addresses. */
export const scoresOf = (count: number, amount = (i: number) => BigInt(i + 1)): Score[] =>
  Array.from({ length: count }, (_, i) => ({ address: addressOf(i), amount: amount(i) }));

/** The client, the sender and what they stand on, over a URL. */
export interface Client {
  readonly rpc: EvmRpc;
  readonly endpoints: Endpoints;
  readonly contract: ScoreContract;
  readonly sender: ScoreSender;
}

/** Times for tests: everything that is waited for is short. */
export const quick: SendConfig = {
  stuck_ms: 600,
  give_up_ms: 8_000,
  poll_ms: 20,
  index_lag_ms: 300,
  gas_margin_percent: 25,
  max_gas_price: 10n ** 12n,
  max_fee: 10n ** 18n,
};

/** How a client of a test differs from the ordinary. */
export interface ClientOptions {
  readonly private_key: string;
  readonly signer?: Signer;
  readonly rollup_gas_limit?: bigint;
  readonly max_scores?: number;
  readonly page_size?: number;
  readonly most_scores?: number | undefined;
  readonly config?: Partial<SendConfig>;
  readonly chain_id?: bigint;
}

/** Makes a client of a contract at a JSON-RPC URL. */
export function clientOf(url: string, address: string, options: ClientOptions): Client {
  const log = createLog('silent');
  const shared = { log, metrics: createMetrics(), timeout_ms: 2_000, connections: 4 };
  const endpoints = createEndpoints('jsonrpc', [url], shared);
  const rpc = createEvmRpc(endpoints);
  const signer = options.signer ?? signerOfKey(hide(options.private_key));
  const contract = createScoreContract({
    rpc,
    address,
    from: signer.address,
    page_size: options.page_size,
    most_scores: options.most_scores,
  });
  const config = { ...quick, ...options.config };
  const txs = createTxSender({
    rpc,
    signer,
    chain_id: options.chain_id ?? 31_337n,
    rollupGasLimit: async () => options.rollup_gas_limit ?? 0n,
    config,
    log,
  });
  const sender = createScoreSender({
    rpc,
    contract,
    sender: txs,
    max_scores: options.max_scores ?? 500,
    gas_margin_percent: config.gas_margin_percent,
  });
  return { rpc, endpoints, contract, sender };
}

/** Fails unless an error is a ContractError of a kind, with words. */
export const failed = (kind: string, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ContractError, String((error as Error).stack));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, words);
  return true;
};

/** Hooks that write everything down. */
export function recordingHooks(): SendHooks & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    leastHeight: async () => 0,
    async onSigned({ tx_hash, nonce, purpose, score_count }) {
      told.push(`signed ${purpose} ${score_count} ${nonce} ${tx_hash}`);
    },
    async onMined({ tx_hash, is_success }) {
      told.push(`mined ${is_success} ${tx_hash}`);
    },
    async onReplaced(tx_hash) {
      told.push(`replaced ${tx_hash}`);
    },
  };
}
