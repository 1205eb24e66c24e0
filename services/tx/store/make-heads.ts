import { type AccountHead, type ListKey, listKey } from './account-list.js';
import type { Position } from './cursor.js';
import { type CountedRow, countedColumns, countedHead, readListEnds } from './list-ends.js';
import type { RestoreOptions } from './restore-heads.js';
import { headRows } from './rows.js';
import { type AccountList, accountLists } from './tables.js';

const options = { name: 'tx.make_heads', priority: 'write' as const };

/**
 * Makes the heads of all lists, in tables that have items and no head: a copy of others' items.
 * Without them every answer would be right as well, but would have to count a list through.
 */
export async function makeHeads(
  { database, tables, insertHeads, atOnce = 100_000 }: RestoreOptions,
  position: Position,
): Promise<void> {
  const some = (table: 'account_heads' | 'account_items') =>
    `(SELECT count() FROM (SELECT 1 FROM ${tables.of(table)} LIMIT 1))`;
  const [row] = await database.rows<{ heads: number; items: number }>(
    `SELECT ${some('account_heads')} AS heads, ${some('account_items')} AS items`,
    {},
    options,
  );
  if (row === undefined || row.heads > 0 || row.items === 0) return;

  /** The ends of the next lists after an account, and the last account of them; undefined after the last. */
  const nextEnds = async (list: AccountList, after: string) => {
    const rows = await database.rows<CountedRow & { n: number }>(
      `SELECT ${countedColumns}, count() AS n FROM (SELECT list, account, ord, sequence FROM ${tables.of('account_items')} WHERE list = {list:String} AND account > {after:String} ORDER BY list, account, ord LIMIT {limit:UInt64}) AS i GROUP BY list, account ORDER BY account`,
      { list, after, limit: atOnce },
      options,
    );
    const isEnd = rows.reduce((sum, { n }) => sum + n, 0) < atOnce;
    // The items of the last list may go on beyond what was read.
    const [whole, partial] = isEnd ? [rows, undefined] : [rows.slice(0, -1), rows.at(-1)];
    const ends = new Map<ListKey, AccountHead>(whole.map(countedHead));
    if (partial !== undefined) {
      const key = listKey(list, partial.account);
      const wanted = [{ key, length: atOnce }];
      const found = await readListEnds(database, tables, wanted, position.last, { priority: 'write' });
      for (const [, end] of found) ends.set(key, end);
    }
    return { ends, last: partial?.account };
  };

  for (const list of Object.values(accountLists).flatMap(({ named, sent }) => [named, sent])) {
    let after: string | undefined = '';
    while (after !== undefined) {
      const { ends, last }: Awaited<ReturnType<typeof nextEnds>> = await nextEnds(list, after);
      if (ends.size > 0) await insertHeads(headRows(ends));
      after = last;
    }
  }
}
