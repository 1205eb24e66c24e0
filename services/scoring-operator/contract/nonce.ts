import { NodeError } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { type BlockPin, callAt, fetchHead, pinBlock } from './at-block.js';
import { type EvmRpc, fromQuantity, toQuantity } from './rpc.js';

/** Txs of an account: in blocks up to a height, and in blocks or the node's pool. */
export interface NonceCounts {
  readonly mined: number;
  readonly pooled: number;
  /** Block up to which mined ones were counted. */
  readonly height: number;
}

/**
 * Counts the txs of an account.
 *
 * @param at_least a node that has not reached this block is not believed.
 * @throws NodeError, RpcAnswerError
 */
export async function fetchNonces(rpc: EvmRpc, account: string, at_least = 0): Promise<NonceCounts> {
  const method = 'eth_getTransactionCount';
  const height = await fetchHead(rpc, at_least);
  const mined = Number(fromQuantity(await callAt(rpc, height, method, [account]), method));
  const pooled = Number(fromQuantity(await rpc.call(method, [account, 'pending']), method));
  return { mined, pooled: Math.max(mined, pooled), height };
}

/**
 * The nonce of the next tx: always the count of MINED ones, so that of two txs that were meant to be
 * the same one, at most one can ever be mined. What waits in the pool gets `patience_ms` to be mined
 * first; after that the nonce is taken all the same, and what is stuck there is replaced.
 *
 * @param at_least a node that has not reached this block is not believed.
 * @returns the nonce, and the block that it was counted at.
 * @throws NodeError, RpcAnswerError
 */
export async function nextNonce(
  rpc: EvmRpc,
  account: string,
  { patience_ms, poll_ms }: { readonly patience_ms: number; readonly poll_ms: number },
  at_least: number,
  signal?: AbortSignal,
): Promise<{ readonly nonce: number; readonly height: number; readonly is_replacing: boolean }> {
  const end = Date.now() + patience_ms;
  for (;;) {
    const { mined, pooled, height } = await fetchNonces(rpc, account, at_least);
    if (pooled <= mined) return { nonce: mined, height, is_replacing: false };
    if (Date.now() >= end || signal?.aborted) return { nonce: mined, height, is_replacing: true };
    await sleep(poll_ms, signal);
  }
}

/**
 * The block of a nonce by its hash, so that what is looked at there is of the same fork: of two nodes that disagree, one
 * could have the tx that took the nonce before, and the other one show a state without it.
 *
 * @throws NodeError `behind` when no node has that very block, `contradicts` when the nonce is another one there; RpcAnswerError.
 */
export async function pinNonce(
  rpc: EvmRpc,
  account: string,
  nonce: number,
  height: number,
  signal?: AbortSignal,
): Promise<BlockPin> {
  const method = 'eth_getTransactionCount';
  const block = await pinBlock(rpc, height, signal);
  const there = Number(fromQuantity(await callAt(rpc, block, method, [account], signal), method));
  if (there !== nonce)
    throw new NodeError(
      'contradicts',
      `the next nonce of ${account} at block ${height} is ${nonce} and ${there}`,
    );
  return block;
}

/** A tx as the node has it. */
export interface FoundTx {
  readonly tx_hash: string;
  /** Lower case. */
  readonly from: string;
  readonly nonce: bigint;
  readonly to: string | undefined;
  readonly data: string;
}

/** Blocks that are searched at most for a tx of a nonce. */
const farthest = 2_000;

/**
 * Finds the tx of an account with a nonce in the blocks after a height.
 *
 * @param at_least a node that has not reached this block is not believed.
 * @returns undefined when none of them has it: then it may be one that the EVM does not show, or
 * the EVM's index lags behind the count.
 * @throws NodeError, RpcAnswerError
 */
export async function findByNonce(
  rpc: EvmRpc,
  account: string,
  nonce: number,
  after_height: number,
  at_least = 0,
): Promise<FoundTx | undefined> {
  const head = await fetchHead(rpc, at_least);
  for (let height = head; height > Math.max(after_height, head - farthest, -1); height--) {
    const block = (await rpc.call('eth_getBlockByNumber', [toQuantity(height), true])) as {
      transactions?: readonly Record<string, unknown>[];
    } | null;
    if (block === null && height === head)
      throw new NodeError('behind', `the node does not have block ${head}, which another request has shown`);
    // Before the first block, or the first that the node keeps.
    if (block === null) return undefined;
    const found = block.transactions
      ?.filter((tx) => String(tx['from']).toLowerCase() === account.toLowerCase())
      .map(toFoundTx)
      .find((tx) => tx.nonce === BigInt(nonce));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The tx of a hash, in a block or in the pool; undefined while the node does not know it. @throws NodeError, RpcAnswerError */
export async function findByHash(rpc: EvmRpc, tx_hash: string): Promise<FoundTx | undefined> {
  const found = (await rpc.call('eth_getTransactionByHash', [tx_hash])) as Record<string, unknown> | null;
  return found === null ? undefined : toFoundTx(found);
}

const toFoundTx = (tx: Readonly<Record<string, unknown>>): FoundTx => ({
  tx_hash: String(tx['hash']).toLowerCase(),
  from: String(tx['from']).toLowerCase(),
  nonce: fromQuantity(tx['nonce'], 'nonce'),
  to: typeof tx['to'] === 'string' ? tx['to'] : undefined,
  data: String(tx['input'] ?? tx['data'] ?? ''),
});

/** Whether a tx calls the same with the same data. */
export const isSameCall = (
  found: Pick<FoundTx, 'to' | 'data'>,
  asked: { readonly to: string | undefined; readonly data: string },
): boolean =>
  found.data.toLowerCase() === asked.data.toLowerCase() &&
  (found.to ?? '').toLowerCase() === (asked.to ?? '').toLowerCase();
