import type { ContractStage, ContractState } from '../contract/contract.js';

/** Stages that are asked for at once. */
const atOnce = 20;

/**
 * The first stage of a contract that does not say it: the lowest of those that follow one another without a gap up to
 * the newest one.
 *
 * @param highest the newest stage that the contract can have.
 */
export async function findFirstStage(
  contract: Pick<ContractState, 'stage'>,
  highest: bigint,
): Promise<bigint | undefined> {
  let first: bigint | undefined;
  for (let top = highest; top >= 1n; top -= BigInt(atOnce)) {
    const wanted = Array.from({ length: atOnce }, (_, index) => top - BigInt(index)).filter((n) => n >= 1n);
    const found = await Promise.all(wanted.map((stage) => contract.stage(stage)));
    for (const [index, stage] of found.entries()) {
      if (stage !== undefined) first = wanted[index];
      else if (first !== undefined) return first;
    }
  }
  return first;
}

/**
 * The stages from one on, up to and with the oldest open one.
 *
 * @param from a stage before which everything is finalized.
 */
export async function readStages(
  contract: Pick<ContractState, 'stage'>,
  from: bigint,
): Promise<ContractStage[]> {
  const stages: ContractStage[] = [];
  let next = from;
  for (;;) {
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
  }
}
