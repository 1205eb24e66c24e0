import type { MinedTx, ScoreSender, SendHooks, Settled, SignedTx } from '../machine/ports.js';
import type { Score } from '../policy/result.js';
import type { BlockPin } from './at-block.js';
import { encodeFinalize, encodeUpdate, withReason } from './client.js';
import type { ScoreContract } from './contract.js';
import { ContractError } from './errors.js';
import type { TxRequest } from './flight.js';
import { fetchNonces, findByHash, findByNonce } from './nonce.js';
import { explainReceipt, fetchReceipt, type RawReceipt, toReceipt } from './receipts.js';
import type { EvmRpc } from './rpc.js';
import type { TxSender } from './tx-sender.js';

/** What scores are sent with. */
export interface ScoreSenderOptions {
  readonly rpc: EvmRpc;
  readonly contract: ScoreContract;
  readonly sender: TxSender;
  /** Scores in one tx at most. */
  readonly max_scores: number;
  readonly gas_margin_percent: number;
}

/** What one tx is, for the hooks. */
type Purpose = Pick<SignedTx, 'purpose' | 'stage' | 'score_count'>;

/** Sends scores to a contract and finalizes its stages, over the one queue of an account's txs. */
export function createScoreSender(options: ScoreSenderOptions): ScoreSender {
  const { rpc, contract, sender, gas_margin_percent } = options;

  const send = async (
    purpose: Purpose,
    data: string,
    hooks: SendHooks,
    rest: Pick<TxRequest, 'what' | 'estimate' | 'check' | 'signal'>,
  ): Promise<MinedTx> => {
    const write = { stage: purpose.stage, data };
    const { receipt, failure } = await sender.send({
      ...rest,
      to: contract.address,
      data,
      leastHeight: hooks.leastHeight,
      onSigned: ({ tx_hash, nonce }) =>
        hooks.onSigned({ ...purpose, tx_hash, nonce, account: sender.account }),
      onReplaced: (tx_hash) => hooks.onReplaced(tx_hash),
      explain: (reason) => withReason(reason, rest.what, write, contract, sender.account),
    });
    const mined = toReceipt(receipt, failure?.message ?? '');
    await hooks.onMined(mined);
    if (failure !== undefined) throw failure;
    return mined;
  };

  const sendBatch = async (
    stage: bigint,
    batch: readonly Score[],
    hooks: SendHooks,
    signal?: AbortSignal,
  ) => {
    let estimate = 0n;
    await send({ purpose: 'update', stage, score_count: batch.length }, encodeUpdate(stage, batch), hooks, {
      what: `update of ${batch.length} scores of stage ${stage}`,
      estimate: async () => {
        estimate = await contract.estimateUpdate(stage, batch);
        return estimate;
      },
      signal,
    });
    return estimate;
  };

  return {
    async sendScores(stage, scores, hooks, signal) {
      let max_scores = options.max_scores;
      let gas_per_score: bigint = guessedGas.gas_per_score;
      const gas_limit = await sender.gasLimit();
      const plan = (some: readonly Score[]): Score[][] =>
        planBatches(some, {
          max_scores,
          base_gas: guessedGas.base_gas,
          gas_per_score,
          gas_limit,
          margin_percent: gas_margin_percent,
        });
      let batches = plan(scores);
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        if (signal?.aborted) throw new ContractError('aborted', `stage ${stage}: stopped between two txs`);
        try {
          const estimate = await sendBatch(stage, batch, hooks, signal);
          // Zeros and changed scores cost less than fresh ones: the dearest that was seen counts.
          const seen = estimate / BigInt(batch.length);
          gas_per_score = seen > gas_per_score ? seen : gas_per_score;
          batches = plan(batches.flat());
        } catch (error) {
          const halves =
            error instanceof ContractError && error.kind === 'out_of_gas' ? halve(batch) : undefined;
          if (halves === undefined) throw error;
          max_scores = halves[0].length;
          batches = plan([...halves.flat(), ...batches.flat()]);
        }
      }
    },

    finalize(stage, guard, hooks, signal) {
      const what = `finalizing stage ${stage}`;
      const check = async (block: BlockPin): Promise<void> => {
        await guard(block);
        // Whatever the guard is: a finalized stage is never finalized again.
        if ((await contract.at(block).stage(stage))?.is_finalized === true) {
          const revert = { name: 'StageFinalized', args: [stage] };
          throw new ContractError('reverted', `${what}: it is finalized already`, revert);
        }
      };
      return send({ purpose: 'finalize', stage, score_count: 0 }, encodeFinalize(stage), hooks, {
        what,
        check,
        estimate: () => contract.estimateFinalize(stage),
        signal,
      });
    },

    async settle({ tx_hash: noted, nonce, account }, at_least) {
      const tx_hash = (await isOther(noted, nonce, account)) ? '' : noted;
      const receipt = tx_hash === '' ? undefined : await fetchReceipt(rpc, tx_hash);
      if (receipt !== undefined) return mined(receipt);
      const { mined: used, pooled, height } = await fetchNonces(rpc, account, at_least);
      if (used > nonce) return settleUsed(tx_hash, nonce, account, height);
      const held =
        tx_hash === '' ? pooled > nonce : (await rpc.call('eth_getTransactionByHash', [tx_hash])) !== null;
      return { kind: held ? 'pending' : 'unknown' };
    },
  };

  /** Whether a node knows a tx, and as another one than was written down: a signer may give a wrong hash. */
  async function isOther(tx_hash: string, nonce: number, account: string): Promise<boolean> {
    const found = tx_hash === '' ? undefined : await findByHash(rpc, tx_hash);
    if (found === undefined) return false;
    const isOurs = found.from === account.toLowerCase() && found.nonce === BigInt(nonce);
    return !isOurs || found.to?.toLowerCase() !== contract.address.toLowerCase();
  }

  async function isKnown(tx_hash: string): Promise<boolean> {
    return (await rpc.call('eth_getTransactionByHash', [tx_hash])) !== null;
  }

  /** The nonce is used: by this tx, whose receipt the node's index does not have yet, or by another. */
  async function settleUsed(
    tx_hash: string,
    nonce: number,
    account: string,
    at_least: number,
  ): Promise<Settled> {
    const found = await findByNonce(rpc, account, nonce, 0, at_least);
    const is_ours =
      tx_hash === ''
        ? found?.to?.toLowerCase() === contract.address.toLowerCase()
        : found?.tx_hash === tx_hash;
    if (found === undefined && tx_hash !== '' && (await isKnown(tx_hash))) return { kind: 'pending' };
    if (found === undefined || !is_ours) return { kind: 'replaced' };
    const receipt = await fetchReceipt(rpc, found.tx_hash);
    return receipt === undefined ? { kind: 'pending' } : mined(receipt);
  }

  async function mined(receipt: RawReceipt): Promise<Settled> {
    if (receipt.is_success) return { kind: 'mined', tx: toReceipt(receipt, '') };
    const tx = (await rpc.call('eth_getTransactionByHash', [receipt.tx_hash])) as Record<
      string,
      string
    > | null;
    const call = { from: sender.account, to: contract.address, data: tx?.['input'] ?? '0x', gas: undefined };
    const { message } = await explainReceipt(rpc, `tx ${receipt.tx_hash}`, receipt, call);
    return { kind: 'mined', tx: toReceipt(receipt, message) };
  }
}

/** What is known of the gas of updates. */
export interface BatchLimits {
  /** Scores in one tx at most. */
  readonly max_scores: number;
  /** Gas of a tx whatever is in it. */
  readonly base_gas: bigint;
  /** Gas of one score more. */
  readonly gas_per_score: bigint;
  /** Gas that a tx may have, margin included; undefined when no limit is known. */
  readonly gas_limit: bigint | undefined;
  /** Margin on the estimate, in percent. */
  readonly margin_percent: number;
}

/** A guess before anything was measured: a fresh score writes three slots and an event. */
export const guessedGas = { base_gas: 60_000n, gas_per_score: 60_000n } as const;

/** How many scores are expected to go into one tx; at least one. */
export function batchSize(limits: BatchLimits): number {
  const { max_scores, base_gas, gas_per_score, gas_limit, margin_percent } = limits;
  if (gas_limit === undefined || gas_per_score <= 0n) return Math.max(1, max_scores);
  const usable = (gas_limit * 100n) / BigInt(100 + margin_percent) - base_gas;
  const fitting = usable / gas_per_score;
  const bounded = fitting > BigInt(max_scores) ? max_scores : Number(fitting);
  return Math.max(1, bounded);
}

/** Cuts scores into txs, in their order, evenly: no last one that is nearly empty. */
export function planBatches(scores: readonly Score[], limits: BatchLimits): Score[][] {
  if (scores.length === 0) return [];
  const count = Math.ceil(scores.length / batchSize(limits));
  return Array.from({ length: count }, (_, index) =>
    scores.slice(
      Math.floor((index * scores.length) / count),
      Math.floor(((index + 1) * scores.length) / count),
    ),
  );
}

/** Two halves of a batch that was too much; undefined for one score, which cannot be halved. */
export function halve(batch: readonly Score[]): [Score[], Score[]] | undefined {
  if (batch.length < 2) return undefined;
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}
