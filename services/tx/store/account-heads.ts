import { type Database, tuple } from '../../common/clickhouse/database.js';
import type { AccountList, Call, Tables } from './tables.js';

/** The end of an account's list. */
export interface AccountHead {
  /** Length of the list. */
  readonly count: number;
  /** Sequences of its last items, newest first: all of them, or `latestKept`. */
  readonly latest: readonly number[];
}

/** An account's list as a text: `list/account`. */
export type ListKey = `${AccountList}/${string}`;

export const listKey = (list: AccountList, account: string): ListKey => `${list}/${account}`;

/** An empty list. */
export const emptyList: AccountHead = { count: 0, latest: [] };

/** How many sequences a head carries: the first page of a wallet fits. */
export const latestKept = 16;

/** Keys that go into one statement, so that it stays short. */
const keysAtOnce = 500;

interface HeadRow {
  readonly list: AccountList;
  readonly account: string;
  readonly ord: number;
  readonly sequence: number;
  readonly latest: readonly number[];
}

/**
 * Reads the heads of lists as they are at a position.
 *
 * @param keys the lists wanted; those without items are missing in the answer.
 * @param upTo highest sequence that counts, of each list.
 */
export async function readAccountHeads(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: (list: AccountList) => number,
  call: Call = {},
): Promise<Map<ListKey, AccountHead>> {
  const found = new Map<ListKey, AccountHead>();
  for (let start = 0; start < keys.length; start += keysAtOnce) {
    const some = keys.slice(start, start + keysAtOnce);
    const heads = await database.rows<HeadRow>(
      `SELECT list, account, ord, sequence, latest FROM ${tables.of('account_heads')} WHERE (list, account) IN {keys:Array(Tuple(String, String))}`,
      { keys: tuplesOf(some) },
      { name: 'tx.account_heads', ...call },
    );
    // Rows that merges have not yet replaced are there as well: the highest one counts.
    heads.sort((a, b) => a.sequence - b.sequence);
    for (const { list, account, ord, sequence, latest } of heads) {
      if (sequence <= upTo(list)) found.set(listKey(list, account), { count: ord, latest });
    }
    const missing = some.filter((key) => !found.has(key));
    if (missing.length > 0) await countItems(database, tables, missing, upTo, call, found);
  }
  return found;
}

/** The same from the items themselves: for lists that are empty, or whose head was lost to a rollback. */
async function countItems(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: (list: AccountList) => number,
  call: Call,
  found: Map<ListKey, AccountHead>,
): Promise<void> {
  const lists = [...new Set(keys.map((key) => partsOf(key)[0]))];
  for (const list of lists) {
    const accounts = keys.filter((key) => partsOf(key)[0] === list).map((key) => partsOf(key)[1]);
    const rows = await database.rows<{ account: string; ord: number; latest: number[] }>(
      `SELECT account, max(i.ord) AS ord, groupArraySorted(${latestKept})(-toInt64(i.sequence)) AS latest FROM ${tables.of('account_items')} AS i WHERE list = {list:String} AND account IN {accounts:Array(String)} AND i.sequence <= {up_to:UInt64} GROUP BY account`,
      { list, accounts, up_to: upTo(list) },
      { name: 'tx.count_items', ...call },
    );
    for (const { account, ord, latest } of rows) {
      found.set(listKey(list, account), { count: ord, latest: latest.map((sequence) => -sequence) });
    }
  }
}

const partsOf = (key: ListKey): [AccountList, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as AccountList, key.slice(slash + 1)];
};

const tuplesOf = (keys: readonly ListKey[]) => keys.map((key) => tuple(partsOf(key)));
