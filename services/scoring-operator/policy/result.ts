import { createHash } from 'node:crypto';

/** The blocks of a stage. */
export interface ScoreWindow {
  readonly stage: bigint;
  /** Unix seconds: the first instant of the stage, and the first one after it. */
  readonly start_time: number;
  readonly end_time: number;
  /** First block with a time not before start_time. */
  readonly from_height: number;
  /** Last block with a time before end_time; below from_height when the stage has no block. */
  readonly to_height: number;
}

/** What a policy gives an address, and why. */
export interface Score {
  /** 0x and 40 lower-case hex digits. */
  readonly address: string;
  /** Whole, above 0, below 2^64. */
  readonly amount: bigint;
}

/** The scores of a stage: the same input gives the same bytes. */
export interface ScoreList {
  /** Sorted by address, each address once. */
  readonly scores: readonly Score[];
  readonly total: bigint;
  /** SHA-256 of the lines `address,amount\n`, lower-case hex. */
  readonly hash: string;
}

/** One step on the way to a score. */
export interface Reason {
  /** What was measured or done: the rule's name in the policy, `cap`, `minimum`, `excluded`, ... */
  readonly rule: string;
  /** In words, with the numbers. */
  readonly text: string;
  /** Score after this step. */
  readonly amount: bigint;
}

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
