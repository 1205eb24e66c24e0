import { NodeError } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/lifecycle.js';
import { type EvmRpc, fromHeight, type RpcAnswer, toQuantity } from './rpc.js';

/*
 * Behind one URL there may be several nodes, some of them late or stuck. What belongs together is therefore read at one
 * block, named by its number: a node that does not have the block says so, and is asked again, or another one is.
 */

/** How often a node that lacks a block is asked again, and the first wait in between, which grows. Milliseconds. */
const [mostAttempts, firstWait_ms] = [12, 40];

/** How nodes say that they do not have a block, or not the state of it. */
const blockMissing =
  /header not found|unknown block|block (\S+ )?(is )?not (found|available)|block ?out ?of ?range|block height is \d+ but requested|height in the future|invalid height|must be less than or equal to the current|missing trie node|state (is )?not available|(failed to load state|version .*) (at height|does not exist)/i;

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
 * Calls a method on the state of one block.
 *
 * @param params without the block, which becomes the last one.
 * @throws NodeError `behind` when no node that was asked has the block; RpcAnswerError.
 */
export function callAt(
  rpc: EvmRpc,
  height: number,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal,
): Promise<unknown> {
  const check = (answer: RpcAnswer): void => checkThere(answer, `the state of block ${height}`);
  return untilThere(() => rpc.call(method, [...params, toQuantity(height)], { check, signal }), signal);
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
