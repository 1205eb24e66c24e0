import { type Call, type Database, tuple } from '../../common/clickhouse/database.js';
import { newestRowsSql } from '../../common/page/view.js';
import { type AccountList, type Kind, kindOfList, type Tables } from './tables.js';

/** The end of an account's list. */
export interface ListEnd {
  /** Length of the list. */
  readonly count: number;
  /** Sequences of its last items, newest first: at most `latestKept`. */
  readonly latest: readonly number[];
}

/** An account's list as a text: `list/account`. */
export type ListKey = `${AccountList}/${string}`;

export const listKey = (list: AccountList, account: string): ListKey => `${list}/${account}`;

/** An empty list. */
export const emptyList: ListEnd = { count: 0, latest: [] };

/** How many sequences an end carries: the first page of a wallet fits. The view's definition has the same number. */
export const latestKept = 16;

/** The list and the account of a key. */
export const listOf = (key: ListKey): readonly [AccountList, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as AccountList, key.slice(slash + 1)];
};

/** Keys that go into one statement, so that it stays short. */
const keysAtOnce = 500;

interface Row {
  readonly list: AccountList;
  readonly account: string;
  readonly length: number;
  readonly latest: readonly number[];
}

const paramOf = (keys: readonly ListKey[]) => ({ keys: keys.map((key) => tuple(listOf(key))) });

/**
 * Reads the ends of lists as they are at a position.
 *
 * A row of the view may be ahead of the position: while a batch is written, after a kill meanwhile until the next start,
 * and for a reader that is behind the writer. The items that it names tell how far, if one of them is at the position;
 * otherwise the list's items are counted, which are never changed up to the head. During a repair they always are.
 *
 * @param keys the lists wanted; those without items are missing in the answer.
 * @param upTo highest sequence that counts, of each kind.
 * @param isRepairing whether a repair of the view is under way.
 */
export async function readListEnds(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: Readonly<Record<Kind, number>>,
  call: Call & { readonly priority?: 'read' | 'write' } = {},
  isRepairing = false,
): Promise<Map<ListKey, ListEnd>> {
  const found = new Map<ListKey, ListEnd>();
  for (let start = 0; start < keys.length; start += keysAtOnce) {
    const some = keys.slice(start, start + keysAtOnce);
    if (!isRepairing)
      for (const row of await readView(database, tables, some, call)) {
        const end = endAt(row, upTo[kindOfList(row.list)]);
        if (end !== undefined) found.set(listKey(row.list, row.account), end);
      }
    const unsure = some.filter((key) => !found.has(key));
    if (unsure.length > 0) await countItems(database, tables, unsure, upTo, call, found);
  }
  return found;
}

/** The end of a list at a sequence, from one that may be later; undefined where it does not tell. */
function endAt({ length, latest }: Row, upTo: number): ListEnd | undefined {
  const later = latest.findIndex((sequence) => sequence <= upTo);
  return later === -1 ? undefined : { count: length - later, latest: latest.slice(later) };
}

function readView(database: Database, tables: Tables, keys: readonly ListKey[], call: Call): Promise<Row[]> {
  return database.rows<Row>(
    newestRowsSql(
      tables.of('list_ends'),
      ['list', 'account', 'length', 'latest'],
      ['list', 'account'],
      '(list, account) IN {keys:Array(Tuple(String, String))}',
    ),
    paramOf(keys),
    { name: 'tx.list_ends', ...call },
  );
}

/** The columns of a list's end, of items with the alias `i`; sequences are negated to have the newest first. */
const countedColumns = `list, account, max(i.ord) AS length, groupArraySorted(${latestKept})(-toInt64(i.sequence)) AS latest`;

const counted = ({ list, account, length, latest }: Row): [ListKey, ListEnd] => [
  listKey(list, account),
  { count: length, latest: latest.map((sequence) => -sequence) },
];

async function countItems(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: Readonly<Record<Kind, number>>,
  call: Call,
  found: Map<ListKey, ListEnd>,
): Promise<void> {
  const rows = await database.rows<Row>(
    `SELECT ${countedColumns}
     FROM ${tables.of('account_items')} AS i
     WHERE (list, account) IN {keys:Array(Tuple(String, String))}
       AND i.sequence <= multiIf(
         list IN ('tx', 'signed_tx'), {tx:UInt64},
         list IN ('evm_tx', 'sent_evm_tx'), {evm_tx:UInt64},
         {internal_tx:UInt64})
     GROUP BY list, account`,
    { ...paramOf(keys), ...upTo },
    { name: 'tx.count_items', ...call },
  );
  for (const row of rows) found.set(...counted(row));
}

/** More items than this are not read through to know every list's end. */
const mostItems = 3_000_000;

/**
 * The ends of all lists that have items, when there are few enough of both; undefined
 * otherwise. The tables must not hold anything above the position.
 *
 * @param capacity most lists that are wanted.
 */
export async function readAllListEnds(
  database: Database,
  tables: Tables,
  capacity: number,
): Promise<Map<ListKey, ListEnd> | undefined> {
  const options = { name: 'tx.all_list_ends', priority: 'write' as const };
  const items = tables.of('account_items');
  const [size] = await database.rows<{ n: number }>(`SELECT count() AS n FROM ${items}`, {}, options);
  if (size === undefined || size.n > mostItems) return undefined;
  const rows = await database.rows<Row>(
    `SELECT ${countedColumns} FROM ${items} AS i GROUP BY list, account LIMIT {limit:UInt64}`,
    { limit: capacity + 1 },
    options,
  );
  return rows.length > capacity ? undefined : new Map(rows.map(counted));
}
