import type { ContractState } from '../contract/contract.js';
import type { ScoringStore } from '../store/store.js';
import type { ContractReads, Index } from './ports.js';

/** What tells which block the contract is read at. */
export interface PinPorts {
  readonly contract: ContractReads;
  readonly index: Pick<Index, 'head'>;
  readonly store: Pick<ScoringStore, 'leastHeight'>;
}

/**
 * The block that a node must have reached to be believed: that of every receipt that was ever seen, and that of the
 * index. A node that is stuck before them would show stages open that are finalized.
 *
 * @throws what the index and the tables throw.
 */
export async function leastHeight(
  { index, store }: Pick<PinPorts, 'index' | 'store'>,
  signal?: AbortSignal,
): Promise<number> {
  const [receipts, { height }] = await Promise.all([store.leastHeight(), index.head(signal)]);
  return Math.max(receipts, height);
}

/** The contract at the newest block, at or above the least. @throws NodeError `behind`, and what `leastHeight` throws. */
export async function newestState(ports: PinPorts, signal?: AbortSignal): Promise<ContractState> {
  const { contract } = ports;
  return contract.at(await contract.head(await leastHeight(ports, signal), signal), signal);
}
