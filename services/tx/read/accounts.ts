import { type Call, type Database, tuple } from '../../common/clickhouse/database.js';
import { createBatcher } from '../../common/util/batcher.js';
import { groupBy } from '../../common/util/chunk.js';
import { isRepairing } from '../../common/writer/head-table.js';
import type { Head } from '../store/cursor.js';
import { createEndTable, type KnownEnds } from '../store/list-end-cache.js';
import { emptyList, type ListEnd, type ListKey, listKey, readListEnds } from '../store/list-ends.js';
import { type AccountList, kindOfList, type Tables } from '../store/tables.js';

/** The lists of accounts. */
export interface Accounts {
  /** The end of a list as it is at a sequence. */
  end(list: AccountList, account: string, upTo: number, call: Call): Promise<ListEnd>;
  /** Remembers the end of a list that was just appended to. */
  put(key: ListKey, end: ListEnd): void;
  /** Forgets what it remembers: lists were appended to, and nobody says which. */
  forget(): void;
  /** Sequences at positions `from` to `to` of a list, ascending. */
  range(range: AccountRange, call: Call): Promise<number[]>;
  /** Bytes of memory of the ends, those of the writer in this process included. */
  readonly size: number;
}

/** A range of positions in an account's list. */
export interface AccountRange {
  readonly list: AccountList;
  readonly account: string;
  readonly from: number;
  readonly to: number;
}

/** Ends and positions that one query reads. */
const [endsAtOnce, positionsAtOnce] = [128, 256];

/** A longer range is a query of its own: as a range it is read faster than position by position. */
const longRange = 32;

/** Memory for 50,000 ends is about 13 MB. */
const endsRemembered = 50_000;

export interface AccountsOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** How many queries may run at once. */
  readonly atOnce: number;
  /** Whether this process writes the tables, and tells what it has written. */
  readonly writesToo: boolean;
  /** The ends of lists as the writer in this process knows them; they may be ahead. */
  readonly writtenEnds?: (() => KnownEnds) | undefined;
}

/** Opens the account lists. */
export function createAccounts({
  database,
  tables,
  head,
  atOnce,
  writesToo,
  writtenEnds,
}: AccountsOptions): Accounts {
  const known = createEndTable(endsRemembered);
  let [revision, position] = [head.revision, head.position];
  // Who writes the tables knows which lists have changed; anybody else must look again
  // whenever they have moved.
  const forgetWhatMayHaveChanged = (): void => {
    if (revision !== head.revision || (!writesToo && position !== head.position)) known.clear();
    [revision, position] = [head.revision, head.position];
  };

  const batched = createBatcher<{ key: ListKey; list: AccountList; upTo: number }, ListEnd>({
    run: async (keys, call) => {
      const answers = new Map<string, ListEnd>();
      // Calls of one moment nearly always see the same end of a kind.
      for (const some of groupBy(keys, ({ list, upTo }) => `${kindOfList(list)}/${upTo}`).values()) {
        const upTo = some[0]?.upTo ?? 0;
        const wanted = [...new Set(some.map(({ key }) => key))];
        const last = { tx: upTo, evm_tx: upTo, internal_tx: upTo };
        const found = await readListEnds(database, tables, wanted, last, call, isRepairing(head.repairs));
        for (const [key, end] of found) answers.set(`${key}/${upTo}`, end);
      }
      return keys.map(({ key, upTo }) => answers.get(`${key}/${upTo}`) ?? emptyList);
    },
    most: endsAtOnce,
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
    async end(list, account, upTo, call) {
      forgetWhatMayHaveChanged();
      const key = listKey(list, account);
      const remembered = writtenEnds?.().get(key) ?? known.get(key);
      if (remembered !== undefined && (remembered.latest[0] ?? 0) <= upTo) return remembered;
      const [before, began] = [head.position, head.revision];
      const found = await batched({ key, list, upTo }, call);
      // Kept only if nothing was written or removed meanwhile: it could have changed the list.
      const isSame = before === head.position && began === head.revision;
      if (isSame && upTo === before.last[kindOfList(list)]) {
        forgetWhatMayHaveChanged();
        known.set(key, found);
      }
      return found;
    },
    put(key, end) {
      forgetWhatMayHaveChanged();
      known.set(key, end);
    },
    forget: () => known.clear(),
    get size() {
      return known.size + (writtenEnds?.().size ?? 0);
    },
    async range(range, call) {
      if (range.from > range.to) return [];
      return range.to - range.from < longRange ? scattered(range, call) : long(range, call);
    },
  };
}
