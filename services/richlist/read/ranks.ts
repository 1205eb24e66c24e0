import type { Call } from '../../common/clickhouse/database.js';
import type { Stretch } from '../store/stretches.js';
import type { Reader } from './reader.js';

/**
 * The stretches of a token's list, in its order. While a batch is being written a newer row
 * may stand where an older one was: then the newer is the best there is.
 */
export async function readStretches(
  { database, tables }: Reader,
  token: string,
  upTo: number,
  call: Call,
): Promise<Stretch[]> {
  const newest = 'if(r.ord <= {upTo:UInt64}, (1, toInt64(r.ord)), (0, -toInt64(r.ord)))';
  const rows = await database.rows<{ place: string; account: string; n: number }>(
    `SELECT toString(shortfall) AS place, account, argMax(r.holder_count, ${newest}) AS n FROM ${tables.of('ranks')} AS r WHERE token = {token:String} GROUP BY shortfall, account HAVING NOT argMax(r.gone, ${newest}) ORDER BY shortfall, account`,
    { token, upTo },
    { name: 'richlist.stretches', ...call },
  );
  return rows.map(({ place, account, n }) => ({ shortfall: BigInt(place), account, count: n }));
}

/** Where to begin reading to reach an item by its offset, and how many to skip there. */
export interface Start {
  /** undefined: at the end of the list that the order begins with. */
  readonly stretch: Stretch | undefined;
  readonly skip: number;
}

/**
 * Finds an offset.
 *
 * @param descending whether offsets count from the last item of the list's own order; then
 *   reading begins below the stretch's place instead of at it.
 * @returns undefined when the list is not that long.
 */
export function findOffset(
  stretches: readonly Stretch[],
  offset: number,
  descending: boolean,
): Start | undefined {
  let left = offset;
  if (!descending) {
    for (const stretch of stretches) {
      if (left < stretch.count) return { stretch, skip: left };
      left -= stretch.count;
    }
    return undefined;
  }
  for (let index = stretches.length - 1; index >= 0; index--) {
    const { count } = stretches[index] as Stretch;
    if (left < count) return { stretch: stretches[index + 1], skip: left };
    left -= count;
  }
  return undefined;
}
