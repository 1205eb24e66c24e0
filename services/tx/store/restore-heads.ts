import type { Database } from '../../common/clickhouse/database.js';
import type { Lines } from '../../common/clickhouse/lines.js';
import { listKey } from './account-list.js';
import type { Position } from './cursor.js';
import { readListEnds } from './list-ends.js';
import { itemsAbove, paramsOf } from './remove.js';
import { headRows } from './rows.js';
import type { AccountList, Tables } from './tables.js';

export interface RestoreOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly insertHeads: (rows: Lines) => Promise<void>;
  /** How much one statement reads: lists that are put right together, or items. */
  readonly atOnce?: number;
}

const options = { name: 'tx.restore_heads', priority: 'write' as const };

interface TouchedList {
  readonly list_name: AccountList;
  readonly account: string;
  readonly length: number;
}

/**
 * Writes the heads, as they are at a position, of the lists that have items above it: the rows
 * that were above may have replaced them. These must be gone, or they would do so again; the
 * items must still be there. Doing it twice is harmless.
 */
export async function restoreHeads(
  { database, tables, insertHeads, atOnce = 10_000 }: RestoreOptions,
  position: Position,
): Promise<void> {
  if (position.height === 0) return;
  const beyond =
    '(account > {account:String} OR (account = {account:String} AND list_name > {list_name:String}))';
  let last: TouchedList | undefined;
  do {
    const lists: TouchedList[] = await database.rows<TouchedList>(
      `SELECT toString(list) AS list_name, account, max(ord) AS length FROM ${tables.of('account_items')} WHERE (${itemsAbove})${last === undefined ? '' : ` AND ${beyond}`} GROUP BY account, list_name ORDER BY account, list_name LIMIT {limit:UInt64}`,
      { ...paramsOf(position), ...last, limit: atOnce },
      options,
    );
    const wanted = lists.map(({ list_name, account, length }) => ({
      key: listKey(list_name, account),
      length,
    }));
    const ends = await readListEnds(database, tables, wanted, position.last, { priority: 'write' });
    if (ends.size > 0) await insertHeads(headRows(ends));
    last = lists.length < atOnce ? undefined : lists.at(-1);
  } while (last !== undefined);
}
