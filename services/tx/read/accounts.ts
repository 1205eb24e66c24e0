import { type Database, tuple } from '../../common/clickhouse/database.js';
import {
  type AccountHead,
  emptyList,
  type ListKey,
  listKey,
  readAccountHeads,
} from '../store/account-heads.js';
import type { AccountList, Call, Tables } from '../store/tables.js';
import { createBatcher } from './batcher.js';
import { groupBy } from './group.js';

/** The lists of accounts. */
export interface Accounts {
  /** The end of a list as it is at a sequence. */
  head(list: AccountList, account: string, upTo: number, call: Call): Promise<AccountHead>;
  /** Sequences at positions `from` to `to` of a list, ascending. */
  range(range: AccountRange, call: Call): Promise<number[]>;
}

/** A range of positions in an account's list. */
export interface AccountRange {
  readonly list: AccountList;
  readonly account: string;
  readonly from: number;
  readonly to: number;
}

/** Heads and positions that one query reads. */
const [headsAtOnce, positionsAtOnce] = [128, 256];

/** A longer range is a query of its own: as a range it is read faster than position by position. */
const longRange = 32;

/** Opens the account lists. @param atOnce how many queries may run at once. */
export function createAccounts(database: Database, tables: Tables, atOnce: number): Accounts {
  const heads = createBatcher<{ key: ListKey; list: AccountList; upTo: number }, AccountHead>({
    run: async (keys, call) => {
      const answers = new Map<string, AccountHead>();
      // Calls of one moment nearly always see the same end of the tables.
      for (const some of groupBy(keys, ({ list, upTo }) => `${list}/${upTo}`).values()) {
        const upTo = some[0]?.upTo ?? 0;
        const wanted = [...new Set(some.map(({ key }) => key))];
        const found = await readAccountHeads(database, tables, wanted, () => upTo, call);
        for (const [key, head] of found) answers.set(`${key}/${upTo}`, head);
      }
      return keys.map(({ key, upTo }) => answers.get(`${key}/${upTo}`) ?? emptyList);
    },
    most: headsAtOnce,
    atOnce,
  });

  const scattered = createBatcher<AccountRange, number[]>({
    run: async (ranges, call) => {
      const keys = ranges.flatMap(({ list, account, from, to }) =>
        Array.from({ length: to - from + 1 }, (_, index) => tuple([list, account, from + index])),
      );
      const rows = await database.rows<{
        list: AccountList;
        account: string;
        ord: number;
        sequence: number;
      }>(
        `SELECT list, account, ord, sequence FROM ${tables.of('account_items')} WHERE (list, account, ord) IN {keys:Array(Tuple(String, String, UInt64))} ORDER BY ord`,
        { keys },
        { name: 'tx.account_positions', ...call },
      );
      const found = groupBy(rows, ({ list, account }) => listKey(list, account));
      return ranges.map(({ list, account, from, to }) =>
        (found.get(listKey(list, account)) ?? [])
          .filter(({ ord }) => ord >= from && ord <= to)
          .map(({ sequence }) => sequence),
      );
    },
    weigh: ({ from, to }) => to - from + 1,
    most: positionsAtOnce,
    atOnce,
  });

  const long = async ({ list, account, from, to }: AccountRange, call: Call): Promise<number[]> => {
    const rows = await database.rows<{ sequence: number }>(
      `SELECT sequence FROM ${tables.of('account_items')} WHERE list = {list:String} AND account = {account:String} AND ord BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY ord`,
      { list, account, from, to },
      { name: 'tx.account_range', ...call },
    );
    return rows.map(({ sequence }) => sequence);
  };

  return {
    head: (list, account, upTo, call) => heads({ key: listKey(list, account), list, upTo }, call),
    async range(range, call) {
      if (range.from > range.to) return [];
      return range.to - range.from < longRange ? scattered(range, call) : long(range, call);
    },
  };
}
