import { generateChain } from './generate/chain.js';
import type { GenerateOptions } from './generate/plan.js';
import { type ReplayNode, type ReplayOptions, startReplayNode } from './node.js';

export { type GeneratedChain, generateChain } from './generate/chain.js';
export { describeGenerated, type TxTruth } from './generate/describe.js';
export type { GenerateOptions } from './generate/plan.js';

/**
 * Starts a node with a generated EVM chain (default 20,000 blocks of 5 txs), served by the same code as a
 * recorded one: tip, faults, forks and events work alike.
 */
export function startGeneratedNode(
  options: GenerateOptions & Omit<ReplayOptions, 'recording'> = {},
): Promise<ReplayNode> {
  return startReplayNode({ ...options, recording: generateChain(options) });
}
