import { type Call, type Database, tuple } from '../../common/clickhouse/database.js';
import { type AccountList, type Kind, kindOfList, type Tables } from './tables.js';

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
 * @param upTo highest sequence that counts, of each kind.
 */
export async function readAccountHeads(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: Readonly<Record<Kind, number>>,
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
      if (sequence <= upTo[kindOfList(list)]) found.set(listKey(list, account), { count: ord, latest });
    }
    const missing = some.filter((key) => !found.has(key));
    if (missing.length > 0) await countItems(database, tables, missing, upTo, call, found);
  }
  return found;
}

/** More items than this are not read through to know every list's end. */
const mostItems = 3_000_000;

/**
 * The ends of all lists that have items, when there are few enough of both; undefined
 * otherwise. The tables must not hold anything above the position.
 *
 * @param capacity most lists that are wanted.
 */
export async function readAllHeads(
  database: Database,
  tables: Tables,
  capacity: number,
): Promise<Map<ListKey, AccountHead> | undefined> {
  const options = { name: 'tx.all_heads' };
  const items = tables.of('account_items');
  const [size] = await database.rows<{ n: number }>(`SELECT count() AS n FROM ${items}`, {}, options);
  if (size === undefined || size.n > mostItems) return undefined;
  const rows = await database.rows<CountedRow>(
    `SELECT ${countedColumns} FROM ${items} AS i GROUP BY list, account LIMIT {limit:UInt64}`,
    { limit: capacity + 1 },
    options,
  );
  return rows.length > capacity ? undefined : new Map(rows.map(countedHead));
}

interface CountedRow {
  readonly list: AccountList;
  readonly account: string;
  readonly ord: number;
  readonly latest: readonly number[];
}

/** A list's end, worked out from its items; sequences are negated to have the newest first. */
const countedColumns = `list, account, max(i.ord) AS ord, groupArraySorted(${latestKept})(-toInt64(i.sequence)) AS latest`;

const countedHead = ({ list, account, ord, latest }: CountedRow): [ListKey, AccountHead] => [
  listKey(list, account),
  { count: ord, latest: latest.map((sequence) => -sequence) },
];

/** The same from the items themselves: for lists that are empty, or whose head was lost to a rollback. */
async function countItems(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: Readonly<Record<Kind, number>>,
  call: Call,
  found: Map<ListKey, AccountHead>,
): Promise<void> {
  const rows = await database.rows<CountedRow>(
    `SELECT ${countedColumns} FROM ${tables.of('account_items')} AS i WHERE (list, account) IN {keys:Array(Tuple(String, String))} AND i.sequence <= multiIf(${upToOfList}) GROUP BY list, account`,
    { keys: tuplesOf(keys), ...upTo },
    { name: 'tx.count_items', ...call },
  );
  for (const row of rows) found.set(...countedHead(row));
}

/** Arguments of multiIf that give the highest sequence that counts in a row's list. */
const upToOfList = `list IN ('tx', 'signed_tx'), {tx:UInt64}, list IN ('evm_tx', 'sent_evm_tx'), {evm_tx:UInt64}, {internal_tx:UInt64}`;

const partsOf = (key: ListKey): [AccountList, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as AccountList, key.slice(slash + 1)];
};

const tuplesOf = (keys: readonly ListKey[]) => keys.map((key) => tuple(partsOf(key)));
