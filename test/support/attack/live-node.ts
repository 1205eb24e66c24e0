import { Transaction } from 'ethers';
import type { Anvil } from '../../../tools/dev/anvil.js';
import type { Meddling, PassingRequest } from '../rpc-proxy.js';

/**
 * Answers as a live EVM node of this family was seen to give them, where they differ from those of other nodes: for a
 * proxy before a local node, which executes what this one takes.
 */
export interface LiveNode {
  /** The node's own minimum price of gas in wei, which no query shows. */
  minimum_price: bigint;
  /** Accounts that do not exist; lower case. */
  readonly missing: Set<string>;
  /** Whether txs wait in the pool; they go on with `mine`. */
  is_holding: boolean;
  /** Whether the answer to a tx that it takes is the one for a tx that it has already. */
  is_silent: boolean;
  /** Every tx that it was sent, with what it said; '' for one that it took. */
  readonly said: { readonly nonce: number; readonly price: bigint; readonly message: string }[];
  /** Hands everything that waits to the chain. */
  mine(): Promise<void>;
  answer(request: PassingRequest): Promise<Meddling>;
}

/** What is estimated is so many tenths of what is needed. */
const estimateTenths = 14n;

/** Makes one before a local node. */
export function createLiveNode(anvil: Anvil): LiveNode {
  const pool = new Map<string, { readonly tx: Transaction; readonly raw: string }>();
  const mined = async (address: string): Promise<number> =>
    Number(await anvil.call('eth_getTransactionCount', address, 'latest'));

  /** Why a tx is not taken; undefined when it is, and '' for one that the node has already. */
  const refusal = async (tx: Transaction): Promise<string | undefined> => {
    const from = tx.from!.toLowerCase();
    const offered = tx.gasPrice ?? tx.maxFeePerGas ?? 0n;
    const [got, required] = [offered * tx.gasLimit, node.minimum_price * tx.gasLimit];
    if (got < required) return `insufficient fee; got: ${got}GAS required: ${required}GAS`;
    if (node.missing.has(from)) return `account ${from} does not exist: unknown address`;
    if (pool.has(tx.hash!) || (await anvil.call('eth_getTransactionByHash', tx.hash)) !== null) return '';
    const count = await mined(from);
    if (tx.nonce < count)
      return `tx nonce ${tx.nonce} is stale for sender ${from} (expected >= ${count}): incorrect account sequence`;
    const held = [...pool.values()].some((one) => one.tx.nonce === tx.nonce && one.tx.from === tx.from);
    return held
      ? `active tx with nonce ${tx.nonce} for sender ${from} has priority 1 >= replacement priority 1: tx already in mempool`
      : undefined;
  };

  const take = async (raw: string): Promise<Meddling> => {
    const tx = Transaction.from(raw);
    const message = await refusal(tx);
    node.said.push({
      nonce: tx.nonce,
      price: tx.gasPrice ?? tx.maxFeePerGas ?? 0n,
      message: message === '' ? 'known' : (message ?? ''),
    });
    if (message !== undefined) return { error: { code: -32_000, message } };
    pool.set(tx.hash!, { tx, raw });
    if (!node.is_holding) await node.mine();
    return node.is_silent ? { error: { code: -32_000, message: '' } } : { result: tx.hash };
  };

  const node: LiveNode = {
    minimum_price: 0n,
    missing: new Set(),
    is_holding: false,
    is_silent: false,
    said: [],
    async mine() {
      const waiting = [...pool.values()].sort((a, b) => a.tx.nonce - b.tx.nonce);
      pool.clear();
      for (const { raw } of waiting) await anvil.call('eth_sendRawTransaction', raw);
    },
    async answer({ method, params }) {
      switch (method) {
        case 'eth_sendRawTransaction':
          return take(String(params[0]));
        case 'eth_gasPrice':
        case 'eth_maxPriorityFeePerGas':
          return { result: '0x0' };
        // What waits is not counted.
        case 'eth_getTransactionCount':
          return params[1] === 'pending'
            ? { result: `0x${(await mined(String(params[0]))).toString(16)}` }
            : undefined;
        case 'eth_getTransactionByHash': {
          const held = pool.get(String(params[0]));
          return held && { result: { hash: params[0], blockNumber: null, nonce: held.tx.nonce } };
        }
        case 'eth_estimateGas':
          return (reply) =>
            typeof reply.result === 'string'
              ? { result: `0x${((BigInt(reply.result) * estimateTenths) / 10n).toString(16)}` }
              : reply;
        default:
          return undefined;
      }
    },
  };
  return node;
}
