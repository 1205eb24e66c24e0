import type { Chain } from './chain.js';
import type { BlockBodies } from './types.js';

/** What one request sees of the chain: faults make it differ from request to request. */
export interface View {
  chain: Chain;
  /** height of the newest block */
  tip: number;
  /** newest height the EVM index knows, <= tip */
  evmTip: number;
  /** what eth_getBlockReceipts says of a block that exists and is not indexed yet */
  notIndexed: '[]' | 'null';
  /** lowest height that is kept; higher than the chain's first on a pruned node */
  earliest: number;
  /** lowest height whose state is kept */
  earliestState: number;
  /** chain id shown by /status and in headers */
  network: string;
  traces: 'ok' | 'unsupported';
  receipts: 'ok' | 'null';
  /** positions of txs that the REST API leaves out of a block */
  missingTxs(height: number): number[];
}

/**
 * The height whose state answers a question about `height` (0 for the latest): never above the tip, and not
 * above the fork when the forked blocks are empty, since nothing has happened since.
 */
export function stateHeight(view: View, height: number): number {
  const asked = height === 0 ? view.tip : height;
  const fork = view.chain.forks().find((f) => !f.keepTxs);
  return fork ? Math.min(asked, fork.at - 1) : asked;
}

const wrapped = new WeakMap<BlockBodies, Map<string, Buffer>>();

/** A body made once per block and kept as bytes as long as the block is. */
export function cachedBody(bodies: BlockBodies, name: string, make: () => string): Buffer {
  const byName = wrapped.get(bodies) ?? new Map<string, Buffer>();
  wrapped.set(bodies, byName);
  const body = byName.get(name) ?? Buffer.from(make());
  byName.set(name, body);
  return body;
}
