import type { MadeAct } from './chain.js';
import { alive, type MadeContract } from './world.js';

/** Ids that are texts: equal to a careless eye, near each other, hard to quote, too big for a number. */
export const textIds = [
  ...['', '0', '1', '01', '10', '9', 'nul\0id', '漢字', '🐈', 'a/b'],
  ...[String(2n ** 256n - 1n), String(2n ** 256n)],
];

/** What something happens to; undefined where a new contract should come to be first. */
export function pickContract({ world, random }: MadeAct): MadeContract | undefined {
  const contracts = [...world.contracts.values()];
  return contracts.length < 3 || (contracts.length < 9 && random.oneIn(20))
    ? undefined
    : random.pick(contracts);
}

/** An id that may be any token's: a hard one, or one of few numbers. */
export const pickAnyId = ({ random }: MadeAct, ids: readonly string[]): string =>
  random.oneIn(2) ? random.pick(ids) : String(random.integer(300));

/** An id, mostly of a token that is there. */
export function pickId(act: MadeAct, contract: MadeContract, ids: readonly string[]): string {
  const tokens = alive(contract);
  return tokens.length > 0 && !act.random.oneIn(4) ? act.random.pick(tokens).id : pickAnyId(act, ids);
}
