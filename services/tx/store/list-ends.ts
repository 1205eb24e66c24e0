import { type Database, type StatementOptions, tuple } from '../../common/clickhouse/database.js';
import { type AccountHead, type ListKey, latestKept, listKey, listOf } from './account-list.js';
import { type AccountList, type Kind, kindOfList, type Tables } from './tables.js';

/*
 * The ends of lists as their items say. Items are only ever appended, and never removed up to
 * the cursor, so that this is right at any position that is whole: while more is being written,
 * while what was above is removed, and after a kill in the midst of either.
 */

/** A list, and about how long it is. */
export interface WantedEnd {
  readonly key: ListKey;
  /** undefined where nobody knows: most such lists have no items at all. */
  readonly length: number | undefined;
}

/** What a statement is sent with. */
type Sending = Omit<StatementOptions, 'name'>;

/** Longer lists are read from their end, one by one; shorter ones whole, many in a statement. */
const shortList = 2_000;

/** Lists that one statement reads whole, and from the end. */
const [shortAtOnce, longAtOnce] = [500, 16];

/**
 * Works out the ends of lists.
 *
 * @param upTo highest sequence that counts, of each kind.
 * @returns those that have items.
 */
export async function readListEnds(
  database: Database,
  tables: Tables,
  wanted: readonly WantedEnd[],
  upTo: Readonly<Record<Kind, number>>,
  sending: Sending = {},
): Promise<Map<ListKey, AccountHead>> {
  const isLong = ({ length }: WantedEnd): boolean => (length ?? 0) > shortList;
  const [short, long] = [wanted.filter((end) => !isLong(end)), wanted.filter(isLong)];
  const found = new Map<ListKey, AccountHead>();
  for (let from = 0; from < short.length; from += shortAtOnce)
    await readWhole(database, tables, short.slice(from, from + shortAtOnce), upTo, sending, found);
  for (let from = 0; from < long.length; from += longAtOnce)
    await readFromEnd(database, tables, long.slice(from, from + longAtOnce), upTo, sending, found);
  return found;
}

/** A list's end, worked out from all its items. */
export interface CountedRow {
  readonly list: AccountList;
  readonly account: string;
  readonly ord: number;
  readonly latest: readonly number[];
}

/** The columns of a counted row, of items `i` by list and account; sequences are negated to have the newest first. */
export const countedColumns = `list, account, max(i.ord) AS ord, groupArraySorted(${latestKept})(-toInt64(i.sequence)) AS latest`;

/** The end that a row tells. */
export const countedHead = ({ list, account, ord, latest }: CountedRow): [ListKey, AccountHead] => [
  listKey(list, account),
  { count: ord, latest: latest.map((sequence) => -sequence) },
];

type Read = (
  database: Database,
  tables: Tables,
  wanted: readonly WantedEnd[],
  upTo: Readonly<Record<Kind, number>>,
  sending: Sending,
  found: Map<ListKey, AccountHead>,
) => Promise<void>;

const readWhole: Read = async (database, tables, wanted, upTo, sending, found) => {
  const rows = await database.rows<CountedRow>(
    `SELECT ${countedColumns} FROM ${tables.of('account_items')} AS i WHERE (list, account) IN {keys:Array(Tuple(String, String))} AND i.sequence <= multiIf(${upToOfList}) GROUP BY list, account`,
    { keys: wanted.map(({ key }) => tuple(listOf(key))), ...upTo },
    { name: 'tx.count_items', ...sending },
  );
  for (const row of rows) found.set(...countedHead(row));
};

/** Arguments of multiIf that give the highest sequence that counts in a row's list. */
const upToOfList = `list IN ('tx', 'signed_tx'), {tx:UInt64}, list IN ('evm_tx', 'sent_evm_tx'), {evm_tx:UInt64}, {internal_tx:UInt64}`;

const readFromEnd: Read = async (database, tables, wanted, upTo, sending, found) => {
  const params = wanted.flatMap(({ key }, index) => {
    const [list, account] = listOf(key);
    return [
      [`list_${index}`, list],
      [`account_${index}`, account],
      [`up_to_${index}`, upTo[kindOfList(list)]],
    ] as const;
  });
  const rows = await database.rows<{ n: number; ord: number; sequence: number }>(
    wanted
      .map(
        (_, index) =>
          `SELECT * FROM (SELECT ${index} AS n, ord, sequence FROM ${tables.of('account_items')} WHERE list = {list_${index}:String} AND account = {account_${index}:String} AND sequence <= {up_to_${index}:UInt64} ORDER BY list DESC, account DESC, ord DESC LIMIT ${latestKept})`,
      )
      .join(' UNION ALL '),
    Object.fromEntries(params),
    { name: 'tx.list_ends', ...sending },
  );
  for (const [index, { key }] of wanted.entries()) {
    const newest = rows.filter(({ n }) => n === index).sort((a, b) => b.ord - a.ord);
    if (newest[0] !== undefined)
      found.set(key, { count: newest[0].ord, latest: newest.map(({ sequence }) => sequence) });
  }
};
