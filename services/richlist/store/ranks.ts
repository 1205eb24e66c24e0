import { LRUCache } from 'lru-cache';
import type { Database } from '../../common/clickhouse/database.js';
import { shortfallOf } from '../amount.js';
import { comparePlaces, emptyList, indexOf, joinShort, type Place, type Stretch } from './stretches.js';
import type { Tables } from './tables.js';

/** A change of one holder as the list sees it; an amount of 0 stands for no place. */
export interface Move {
  readonly token: string;
  readonly account: string;
  readonly from: bigint;
  readonly to: bigint;
}

/** A row of the table. */
export interface RankRow {
  readonly token: string;
  readonly shortfall: string;
  readonly account: string;
  readonly holder_count: number;
  readonly gone: boolean;
}

/** The ranks as the writer keeps them. After any failure `reset` must be called. */
export interface Ranks {
  /**
   * Takes moves over and gives the rows to write. The holders' rows must have been written
   * before: a stretch that has become too long is cut by looking at them.
   */
  move(moves: readonly Move[]): Promise<RankRow[]>;
  /** The rows of a token made anew from its holders. */
  rebuild(token: string): Promise<RankRow[]>;
  /** Forgets what is in memory. */
  reset(): void;
}

/** Stretches in memory over all tokens, about 150 bytes each. */
const remembered = 200_000;

/**
 * Opens the ranks for writing.
 *
 * @param longest a stretch with more holders is cut into ones of half of it.
 */
export function createRanks(database: Database, tables: Tables, longest: number): Ranks {
  const lists = new LRUCache<string, Stretch[]>({
    maxSize: remembered,
    sizeCalculation: (list) => list.length,
  });
  const options = { name: 'richlist.ranks', priority: 'write' as const };

  const load = async (token: string): Promise<Stretch[]> => {
    const rows = await database.rows<{ place: string; account: string; n: number }>(
      `SELECT toString(shortfall) AS place, account, argMax(r.holder_count, r.ord) AS n FROM ${tables.of('ranks')} AS r WHERE token = {token:String} GROUP BY shortfall, account HAVING NOT argMax(r.gone, r.ord) ORDER BY shortfall, account`,
      { token },
      options,
    );
    const list = rows.map(({ place, account, n }) => ({ shortfall: BigInt(place), account, count: n }));
    return list.length === 0 ? emptyList() : list;
  };

  /** Every n-th holder of a stretch, beginning with the n-th. */
  const cutsOf = async (token: string, from: Place, to: Place | undefined): Promise<Place[]> => {
    const upper =
      to === undefined
        ? ''
        : 'AND (shortfall < {to:UInt256} OR (shortfall = {to:UInt256} AND account < {to_account:String}))';
    const rows = await database.rows<{ place: string; account: string }>(
      `SELECT toString(shortfall) AS place, account FROM (SELECT shortfall, account, row_number() OVER (ORDER BY shortfall, account) AS n FROM (SELECT shortfall, account FROM ${tables.of('holders')} WHERE token = {token:String} AND (shortfall > {from:UInt256} OR (shortfall = {from:UInt256} AND account >= {from_account:String})) ${upper} GROUP BY shortfall, account HAVING sum(sign) > 0)) WHERE n % {every:UInt64} = 1 AND n > 1 ORDER BY shortfall, account`,
      {
        token,
        from: String(from.shortfall),
        from_account: from.account,
        to: String(to?.shortfall ?? 0n),
        to_account: to?.account ?? '',
        every: longest / 2,
      },
      options,
    );
    return rows.map(({ place, account }) => ({ shortfall: BigInt(place), account }));
  };

  const split = async (token: string, list: Stretch[], stretch: Stretch): Promise<Stretch[]> => {
    const index = indexOf(list, stretch);
    const cuts = await cutsOf(token, stretch, list[index + 1]);
    let left = stretch.count;
    const parts = cuts.map((cut) => {
      left -= longest / 2;
      return { ...cut, count: longest / 2 };
    });
    const last = parts.at(-1);
    if (last === undefined) return [stretch];
    // The first keeps its place; of the others each holds what follows its own.
    stretch.count = longest / 2;
    last.count = left;
    list.splice(index + 1, 0, ...parts);
    return [stretch, ...parts];
  };

  const rowOf = (token: string, { shortfall, account, count }: Stretch, gone: boolean): RankRow => ({
    token,
    shortfall: String(shortfall),
    account,
    holder_count: gone ? 0 : count,
    gone,
  });

  const moveWithin = async (token: string, moves: readonly Move[]): Promise<RankRow[]> => {
    const list = lists.get(token) ?? (await load(token));
    const touched = new Set<Stretch>();
    const add = (amount: bigint, account: string, count: number): void => {
      if (amount === 0n) return;
      const stretch = list[indexOf(list, { shortfall: shortfallOf(amount), account })] as Stretch;
      stretch.count += count;
      touched.add(stretch);
    };
    for (const { account, from, to } of moves) {
      add(from, account, -1);
      add(to, account, 1);
    }
    for (const stretch of [...touched])
      if (stretch.count > longest) for (const part of await split(token, list, stretch)) touched.add(part);
    const { gone, grown } = joinShort(list, touched, longest / 8);
    const left = new Set(gone);
    const changed = [...new Set([...touched, ...grown])].filter((stretch) => !left.has(stretch));
    lists.set(token, list);
    return [
      ...changed.map((stretch) => rowOf(token, stretch, false)),
      ...gone.map((stretch) => rowOf(token, stretch, true)),
    ];
  };

  return {
    async move(moves) {
      const byToken = new Map<string, Move[]>();
      for (const move of moves) {
        if (move.from === move.to) continue;
        const list = byToken.get(move.token);
        if (list === undefined) byToken.set(move.token, [move]);
        else list.push(move);
      }
      const rows: RankRow[] = [];
      for (const [token, list] of byToken) rows.push(...(await moveWithin(token, list)));
      return rows;
    },
    async rebuild(token) {
      lists.delete(token);
      const [total] = await database.rows<{ n: number }>(
        `SELECT count() AS n FROM (SELECT shortfall, account FROM ${tables.of('holders')} WHERE token = {token:String} GROUP BY shortfall, account HAVING sum(sign) > 0)`,
        { token },
        options,
      );
      const list = emptyList();
      const whole = list[0] as Stretch;
      whole.count = total?.n ?? 0;
      if (whole.count > longest) await split(token, list, whole);
      list.sort(comparePlaces);
      return list.map((stretch) => rowOf(token, stretch, false));
    },
    reset: () => lists.clear(),
  };
}
