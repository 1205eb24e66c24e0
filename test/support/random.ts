/** A source of random choices that repeats itself for the same seed. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number;
  /** True once in `n` times. */
  oneIn(n: number): boolean;
  pick<T>(values: readonly T[]): T;
}

/** Makes a source (xorshift32); the seed is any positive integer below 2^32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0 || 1;
  const integer = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return {
    integer,
    oneIn: (n) => integer(n) === 0,
    pick: <T>(values: readonly T[]) => values[integer(values.length)] as T,
  };
}
