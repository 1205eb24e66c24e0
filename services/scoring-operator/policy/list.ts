import { createHash } from 'node:crypto';
import type { Score } from './result.js';

/** SHA-256 of the lines `address,amount` in the order given, lower-case hex. */
export function hashOfScores(scores: readonly Score[]): string {
  const hash = createHash('sha256');
  for (const { address, amount } of scores) hash.update(`${address},${amount}\n`);
  return hash.digest('hex');
}

/** The scores as a ranking: the largest first, equal ones by address. */
export function ranked(scores: readonly Score[]): Score[] {
  return [...scores].sort((a, b) =>
    a.amount === b.amount ? (a.address < b.address ? -1 : 1) : a.amount > b.amount ? -1 : 1,
  );
}
