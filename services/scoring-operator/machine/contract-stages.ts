import type { ContractStage, ContractState } from '../contract/contract.js';
import type { ScoringStore } from '../store/store.js';
import type { ContractReads, Index } from './ports.js';

/** Stages that are asked for at once. */
const atOnce = 20;

/**
 * How far back the first stage is looked for: more than the stages of a day in ten years. Without an end, a node that shows
 * any stage, or an L1 that names a far one, would be asked for ever.
 */
const farthestBack = 4_000n;

/**
 * The first stage of a contract that does not say it: the lowest of those that follow one another without a gap up to
 * the newest one.
 *
 * @param highest the newest stage that the contract can have.
 * @returns undefined where it has none, or begins too far back to be looked for.
 */
export async function findFirstStage(
  contract: Pick<ContractState, 'stage'>,
  highest: bigint,
): Promise<bigint | undefined> {
  let first: bigint | undefined;
  const lowest = highest > farthestBack ? highest - farthestBack + 1n : 1n;
  for (let top = highest; top >= lowest; top -= BigInt(atOnce)) {
    const wanted = Array.from({ length: atOnce }, (_, index) => top - BigInt(index)).filter(
      (stage) => stage >= lowest,
    );
    const found = await Promise.all(wanted.map((stage) => contract.stage(stage)));
    for (const [index, stage] of found.entries()) {
      if (stage !== undefined) first = wanted[index];
      else if (first !== undefined) return first;
    }
  }
  return lowest === 1n ? first : undefined;
}

/**
 * The stages from one on, up to and with the oldest open one.
 *
 * @param from a stage before which everything is finalized.
 * @param highest the newest stage that is looked at, `from` at least: one that is finalized although the L1 has not come to
 *   it is enough to know that something is wrong.
 */
export async function readStages(
  contract: Pick<ContractState, 'stage'>,
  from: bigint,
  highest: bigint,
): Promise<ContractStage[]> {
  const stages: ContractStage[] = [];
  let next = from;
  do {
    // Usually the first of them is the last finalized one, and the second is open.
    const wanted = stages.length === 0 ? 2 : atOnce;
    const found = await Promise.all(
      Array.from({ length: wanted }, (_, index) => contract.stage(next + BigInt(index))),
    );
    next += BigInt(wanted);
    for (const stage of found) {
      if (stage === undefined) return stages;
      stages.push(stage);
      if (!stage.is_finalized) return stages;
    }
  } while (next <= highest);
  return stages;
}

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
