import { sleep } from '../../common/lifecycle.js';
import { type EvmRpc, fromQuantity, toQuantity } from './rpc.js';

/** Txs of an account: in blocks, and in blocks or the node's pool. */
export interface NonceCounts {
  readonly mined: number;
  readonly pooled: number;
}

/** Counts the txs of an account. @throws NodeError, RpcAnswerError */
export async function fetchNonces(rpc: EvmRpc, account: string): Promise<NonceCounts> {
  const [mined, pooled] = await Promise.all(
    ['latest', 'pending'].map(async (tag) =>
      Number(
        fromQuantity(await rpc.call('eth_getTransactionCount', [account, tag]), 'eth_getTransactionCount'),
      ),
    ),
  );
  return { mined: mined as number, pooled: Math.max(mined as number, pooled as number) };
}

/**
 * The nonce of the next tx: always the count of MINED ones, so that of two txs that were meant to be
 * the same one, at most one can ever be mined. What waits in the pool gets `patience_ms` to be mined
 * first; after that the nonce is taken all the same, and what is stuck there is replaced.
 *
 * @throws NodeError, RpcAnswerError
 */
export async function nextNonce(
  rpc: EvmRpc,
  account: string,
  { patience_ms, poll_ms }: { readonly patience_ms: number; readonly poll_ms: number },
  signal?: AbortSignal,
): Promise<{ readonly nonce: number; readonly is_replacing: boolean }> {
  const end = Date.now() + patience_ms;
  for (;;) {
    const { mined, pooled } = await fetchNonces(rpc, account);
    if (pooled <= mined) return { nonce: mined, is_replacing: false };
    if (Date.now() >= end || signal?.aborted) return { nonce: mined, is_replacing: true };
    await sleep(poll_ms, signal);
  }
}

/** A tx as a block has it. */
export interface FoundTx {
  readonly tx_hash: string;
  readonly to: string | undefined;
  readonly data: string;
}

/** Blocks that are searched at most for a tx of a nonce. */
const farthest = 2_000;

/**
 * Finds the tx of an account with a nonce in the blocks after a height.
 *
 * @returns undefined when none of them has it: then it may be one that the EVM does not show, or
 * the EVM's index lags behind the count.
 * @throws NodeError, RpcAnswerError
 */
export async function findByNonce(
  rpc: EvmRpc,
  account: string,
  nonce: number,
  after_height: number,
): Promise<FoundTx | undefined> {
  const head = Number(fromQuantity(await rpc.call('eth_blockNumber', []), 'eth_blockNumber'));
  for (let height = head; height > Math.max(after_height, head - farthest, -1); height--) {
    const block = (await rpc.call('eth_getBlockByNumber', [toQuantity(height), true])) as {
      transactions?: readonly Record<string, unknown>[];
    } | null;
    const found = block?.transactions?.find(
      (tx) =>
        String(tx['from']).toLowerCase() === account.toLowerCase() &&
        fromQuantity(tx['nonce'], 'nonce') === BigInt(nonce),
    );
    if (found !== undefined) {
      return {
        tx_hash: String(found['hash']).toLowerCase(),
        to: typeof found['to'] === 'string' ? found['to'] : undefined,
        data: String(found['input'] ?? found['data'] ?? ''),
      };
    }
  }
  return undefined;
}
