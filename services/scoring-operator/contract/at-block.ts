import { NodeError } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { type EvmRpc, fromHeight, type RpcAnswer, RpcAnswerError, toQuantity } from './rpc.js';

/*
 * Behind one URL there may be several nodes, some of them late or stuck. What belongs together is therefore read at one
 * block, named by its number: a node that does not have the block says so, and is asked again, or another one is.
 */

/** How often a node that lacks a block is asked again, and the first wait in between, which grows. Milliseconds. */
const [mostAttempts, firstWait_ms] = [12, 40];

/** How nodes say that they do not have a block, or not the state of it. */
const blockMissing =
  /header (for hash )?not found|unknown block|block (\S+ )?(is )?not (found|available)|block ?out ?of ?range|block height is \d+ but requested|height in the future|invalid height|must be less than or equal to the current|missing trie node|state (is )?not available|(failed to load state|version .*) (at height|does not exist)|collections: not found/i;

/** A block by its number; with its hash, too, where nodes of different forks could each have another one of that number. */
export type BlockPin = number | { readonly height: number; readonly hash: string };

/** How nodes say that they know blocks by their numbers alone. */
const hashUnknown =
  /unmarshal|invalid (argument|params?|type|block)|cannot (parse|decode)|expected .*string/i;

/** @throws NodeError `behind` for an answer that says that the node does not have a block. */
export function checkThere(answer: RpcAnswer, what: string): void {
  if ('failure' in answer && blockMissing.test(answer.failure.message))
    throw new NodeError('behind', `the node does not have ${what}: ${answer.failure.message.slice(0, 200)}`);
}

/**
 * Number of the newest block of the node.
 *
 * @param at_least a node that has not reached this block is not believed.
 * @throws NodeError `behind` when no node that was asked has reached it; RpcAnswerError.
 */
export function fetchHead(rpc: EvmRpc, at_least = 0, signal?: AbortSignal): Promise<number> {
  const method = 'eth_blockNumber';
  return untilThere(async () => {
    const check = (answer: RpcAnswer): void => {
      if ('failure' in answer) return;
      const height = fromHeight(answer.result, method);
      if (height < at_least)
        throw new NodeError('behind', `the node is at block ${height}, and block ${at_least} is known`);
    };
    return fromHeight(await rpc.call(method, [], { check, signal }), method);
  }, signal);
}

/**
 * The block of a number with its hash, as one of the nodes has it.
 *
 * @throws NodeError `behind` when no node that was asked has it; RpcAnswerError.
 */
export async function pinBlock(rpc: EvmRpc, height: number, signal?: AbortSignal): Promise<BlockPin> {
  const readHash = (answer: RpcAnswer): string => {
    checkThere(answer, `block ${height}`);
    const block = 'result' in answer ? (answer.result as { readonly hash?: unknown } | null) : undefined;
    if (block === null) throw new NodeError('behind', `the node does not have block ${height}`);
    return String(block?.hash);
  };
  const params = [toQuantity(height), false];
  const check = (answer: RpcAnswer): void => void readHash(answer);
  const ask = () => rpc.call('eth_getBlockByNumber', params, { check, signal });
  const hash = readHash({ result: await untilThere(ask, signal) });
  return /^0x[0-9a-f]{64}$/i.test(hash) ? { height, hash } : height;
}

/**
 * Calls a method on the state of one block.
 *
 * @param block by its hash where it has one and the node takes one.
 * @param params without the block, which becomes the last one.
 * @throws NodeError `behind` when no node that was asked has the block; RpcAnswerError.
 */
export async function callAt(
  rpc: EvmRpc,
  block: BlockPin,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const height = typeof block === 'number' ? block : block.height;
  const ask = (at: unknown, check: (answer: RpcAnswer) => void) =>
    untilThere(() => rpc.call(method, [...params, at], { check, signal }), signal);
  if (typeof block !== 'number') {
    try {
      const check = (answer: RpcAnswer): void => {
        checkThere(answer, `the state of block ${height}`);
        // How some nodes say that they know no such hash.
        if ('result' in answer && answer.result === null)
          throw new NodeError('behind', `the node does not have block ${height} with the hash ${block.hash}`);
      };
      return await ask({ blockHash: block.hash }, check);
    } catch (error) {
      const isUnknown =
        error instanceof RpcAnswerError &&
        (error.failure.code === -32_602 || hashUnknown.test(error.failure.message));
      if (!isUnknown) throw error;
    }
  }
  return ask(toQuantity(height), (answer) => checkThere(answer, `the state of block ${height}`));
}

/** Asks again while the node is behind, or does not agree with itself: behind its URL there may be several. */
export async function untilThere<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      const mayChange = error instanceof NodeError && /^(behind|contradicts)$/.test(error.reason);
      if (!mayChange || attempt >= mostAttempts || signal?.aborted) throw error;
      await sleep(firstWait_ms * attempt, signal);
    }
  }
}
