/** When blocks were made, and when the stage begins and ends; nanoseconds since the epoch. */
export interface Clock {
  readonly start: bigint;
  /** The first instant after the stage. */
  readonly end: bigint;
  /** Time of a block of the window. @throws RangeError for any other. */
  timeOf(height: number): bigint;
}

/** Makes a clock. @param times of the blocks from `first_height` on. */
export function createClock(start: bigint, end: bigint, first_height: number, times: BigInt64Array): Clock {
  return {
    start,
    end,
    timeOf(height) {
      const time = times[height - first_height];
      if (time === undefined) throw new RangeError(`the time of block ${height} is not known`);
      return time;
    },
  };
}

/**
 * Adds up an amount over time. The amounts of one account must come in the order of the chain;
 * what was held when the stage began comes first.
 */
export interface Weighing {
  /** From an instant on the account holds so much. */
  set(time: bigint, amount: bigint): void;
  /** The sum of amount times nanoseconds, up to the end. */
  total(): bigint;
}

/** Starts with nothing held. */
export function weigh({ start, end }: Clock): Weighing {
  let [sum, since, held] = [0n, start, 0n];
  const inside = (time: bigint): bigint => (time < start ? start : time > end ? end : time);
  return {
    set(time, amount) {
      const now = inside(time);
      sum += held * (now - since);
      [since, held] = [now, amount];
    },
    total: () => sum + held * (end - since),
  };
}
