import { type Call, type Database, tuple } from '../../common/clickhouse/database.js';
import { type AccountHead, type ListKey, listKey, listOf } from './account-list.js';
import { type CountedRow, countedColumns, countedHead, readListEnds, type WantedEnd } from './list-ends.js';
import { type AccountList, type Kind, kindOfList, type Tables } from './tables.js';

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
 * A list's newest row is its end, unless it is above the position: then it may have replaced
 * the one that was the end there, of which merges leave nothing, or an even older one. That
 * happens while a batch is written, after a kill meanwhile until the next start, and to a reader
 * that is behind the writer. The items tell the end then, in one more statement. What a cut has
 * removed from above the cursor had replaced rows as well, but a cut puts these right before it
 * ends; until then it is the items that count.
 *
 * @param keys the lists wanted; those without items are missing in the answer.
 * @param upTo highest sequence that counts, of each kind.
 * @param isCut whether a cut is under way.
 */
export async function readAccountHeads(
  database: Database,
  tables: Tables,
  keys: readonly ListKey[],
  upTo: Readonly<Record<Kind, number>>,
  call: Call = {},
  isCut = false,
): Promise<Map<ListKey, AccountHead>> {
  const found = new Map<ListKey, AccountHead>();
  for (let start = 0; start < keys.length; start += keysAtOnce) {
    const some = keys.slice(start, start + keysAtOnce);
    const rows = await database.rows<HeadRow>(
      `SELECT list, account, ord, sequence, latest FROM ${tables.of('account_heads')} WHERE (list, account) IN {keys:Array(Tuple(String, String))}`,
      { keys: some.map((key) => tuple(listOf(key))) },
      { name: 'tx.account_heads', ...call },
    );
    // Rows that merges have not yet replaced are there as well.
    const newest = new Map<ListKey, HeadRow>();
    for (const row of rows) {
      const key = listKey(row.list, row.account);
      if (row.sequence > (newest.get(key)?.sequence ?? 0)) newest.set(key, row);
    }
    const unsure: WantedEnd[] = [];
    for (const key of some) {
      const row = newest.get(key);
      if (row !== undefined && !isCut && row.sequence <= upTo[kindOfList(row.list)])
        found.set(key, { count: row.ord, latest: row.latest });
      else unsure.push({ key, length: row?.ord });
    }
    if (unsure.length === 0) continue;
    for (const [key, head] of await readListEnds(database, tables, unsure, upTo, call)) found.set(key, head);
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
