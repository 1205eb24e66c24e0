/** A place in a token's list: shortfall, then account. The first place is 0 and ''. */
export interface Place {
  readonly shortfall: bigint;
  readonly account: string;
}

/** Holders from one place of the list up to the next stretch's. */
export interface Stretch extends Place {
  count: number;
}

/** A stretch with more holders than this is cut into ones of half of it. */
export const longest = 2_048;

/** Two neighbours with fewer than this together become one. */
const shortest = 256;

/** Which of two places comes first: negative, 0 or positive. */
export function comparePlaces(a: Place, b: Place): number {
  if (a.shortfall !== b.shortfall) return a.shortfall < b.shortfall ? -1 : 1;
  return a.account < b.account ? -1 : a.account > b.account ? 1 : 0;
}

/** A list without holders. */
export const emptyList = (): Stretch[] => [{ shortfall: 0n, account: '', count: 0 }];

/** Index of the stretch that a place lies in. */
export function indexOf(stretches: readonly Stretch[], place: Place): number {
  let [low, high] = [0, stretches.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (comparePlaces(stretches[middle] as Stretch, place) <= 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Joins stretches with too few holders to their neighbours, from a set of those that lost some.
 *
 * @returns the stretches that are gone, and those that took their holders over.
 */
export function joinShort(
  stretches: Stretch[],
  touched: ReadonlySet<Stretch>,
): { readonly gone: Stretch[]; readonly grown: Set<Stretch> } {
  const gone: Stretch[] = [];
  const grown = new Set<Stretch>();
  for (const stretch of touched) {
    if (stretch.count >= shortest) continue;
    const index = indexOf(stretches, stretch);
    if (stretches[index] !== stretch) continue; // joined already
    for (const [before, after] of [
      [index - 1, index],
      [index, index + 1],
    ] as const) {
      const [keeper, leaver] = [stretches[before], stretches[after]];
      if (keeper === undefined || leaver === undefined || keeper.count + leaver.count >= shortest) continue;
      keeper.count += leaver.count;
      grown.add(keeper);
      gone.push(leaver);
      stretches.splice(after, 1);
      break;
    }
  }
  return { gone, grown };
}
