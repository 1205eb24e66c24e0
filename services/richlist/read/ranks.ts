import type { Call } from '../../common/clickhouse/database.js';
import type { Stretch } from '../store/stretches.js';
import { readLaterChanges, stretchesBefore } from './later.js';
import type { Reader } from './reader.js';

/** The stretches of a token's list as they were after a change, in the list's order. */
export async function readStretches(
  reader: Reader,
  token: string,
  upTo: number,
  call: Call,
): Promise<Stretch[]> {
  const { database, tables } = reader;
  const rows = await database.rows<{
    place: string;
    account: string;
    n: number;
    isGone: boolean;
    at: number;
  }>(
    `SELECT toString(shortfall) AS place, account, argMax(r.holder_count, r.ord) AS n, argMax(r.gone, r.ord) AS isGone, max(r.ord) AS at FROM ${tables.of('ranks')} AS r WHERE token = {token:String} GROUP BY shortfall, account HAVING NOT isGone OR at > {upTo:UInt64} ORDER BY shortfall, account`,
    { token, upTo },
    { name: 'richlist.stretches', ...call },
  );
  const stretches = rows
    .filter(({ isGone }) => !isGone)
    .map(({ place, account, n }) => ({ shortfall: BigInt(place), account, count: n }));
  // Every row of a batch carries the number of its last change of the token: the ranks are those of then.
  const newest = rows.reduce((latest, { at }) => Math.max(latest, at), 0);
  if (newest <= upTo) return stretches;
  const changes = await readLaterChanges(reader, token, { above: upTo, upTo: newest }, call);
  return stretchesBefore(stretches, changes);
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
