import { tuple } from '../../common/clickhouse/database.js';
import { removeRows } from '../../common/clickhouse/remove.js';
import type { FaultPoint } from '../../common/fault.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { shortfallOf } from '../amount.js';
import { type HoldingKey, holdingKey, type Source } from './balance.js';
import type { Position } from './cursor.js';
import type { Ranks } from './ranks.js';
import type { TableName, Tables } from './tables.js';

/** What cutting the tables works with. */
export interface CutEnvironment {
  readonly database: FencedDatabase;
  readonly tables: Tables;
  readonly ranks: Ranks;
  readonly fault: FaultPoint;
  /** Told before rows go that may have replaced others: until this is done, some are missing. */
  readonly begin: () => Promise<void>;
  /** Inserts rows, cut into statements of a bearable length. */
  readonly insert: (name: TableName, lines: readonly string[]) => Promise<void>;
}

/** Holdings that one statement puts right. */
const holdingsAtOnce = 1_000;

const options = { name: 'richlist.remove_above', priority: 'write' as const };

/**
 * Removes everything above a position. The cursor goes first of all rows: what is above it does not
 * exist. Merges may have dropped older rows of holdings that changed above the position, so
 * these are put right from the changes below it; the changes above are removed last, because
 * they tell which holdings that are.
 *
 * @returns how many changes were removed.
 */
export async function cutAbove(environment: CutEnvironment, { height, last_ord }: Position): Promise<number> {
  const { database, tables, fault, begin } = environment;
  const remove = (name: TableName, condition: string): Promise<number> =>
    removeRows({ database, tables, fault, name: options.name }, name, condition, { height, last_ord });

  const [above] = await database.rows<{ n: number }>(
    `SELECT count() AS n FROM ${tables.of('changes')} WHERE ord > {last_ord:UInt64}`,
    { last_ord },
    options,
  );
  const isEmpty = above === undefined || above.n === 0;
  if (!isEmpty) await begin();
  await remove('blocks', 'height > {height:UInt64} OR last_ord > {last_ord:UInt64}');
  if (isEmpty) return 0;
  for (const name of ['checks', 'denoms', 'tokens', 'ranks', 'balances', 'holders'] as const)
    await remove(name, 'ord > {last_ord:UInt64}');
  if (last_ord > 0) await putRight(environment, last_ord);
  return remove('changes', 'ord > {last_ord:UInt64}');
}

async function putRight(environment: CutEnvironment, last_ord: number): Promise<void> {
  const { database, tables, ranks, fault, insert } = environment;
  const holdings = await database.rows<{ token: string; account: string }>(
    `SELECT DISTINCT token, account FROM ${tables.of('changes')} WHERE ord > {last_ord:UInt64} ORDER BY token, account`,
    { last_ord },
    options,
  );
  for (let from = 0; from < holdings.length; from += holdingsAtOnce) {
    const keys = holdings
      .slice(from, from + holdingsAtOnce)
      .map(({ token, account }) => tuple([token, account]));
    await putHoldingsRight(environment, keys, last_ord);
  }
  for (const token of new Set(holdings.map((holding) => holding.token))) {
    await fault('rebuild ranks');
    await database.remove(tables.removable('ranks'), 'token = {token:String}', { token }, options);
    const [last] = await database.rows<{ ord: number }>(
      `SELECT max(ord) AS ord FROM ${tables.of('changes')} AS c WHERE token = {token:String} AND c.ord <= {last_ord:UInt64}`,
      { token, last_ord },
      options,
    );
    if (last === undefined || last.ord === 0) continue;
    const rows = await ranks.rebuild(token);
    await insert(
      'ranks',
      rows.map((row) => JSON.stringify({ ...row, ord: last.ord })),
    );
  }
}

interface Expected {
  readonly token: string;
  readonly account: string;
  readonly last: number;
  readonly at: number;
  readonly balance: string;
  readonly origin: Source;
}

interface Standing {
  readonly token: string;
  readonly account: string;
  readonly place: string;
  readonly since: number;
  readonly n: number;
}

/** Makes the balances and the places in the list of holdings what their changes say. */
async function putHoldingsRight(
  { database, tables, insert }: CutEnvironment,
  holdings: readonly unknown[],
  last_ord: number,
): Promise<void> {
  const where = '(token, account) IN {holdings:Array(Tuple(String, String))}';
  const expected = await database.rows<Expected>(
    `SELECT token, account, max(c.ord) AS last, argMax(c.height, c.ord) AS at, toString(argMax(c.amount, c.ord)) AS balance, toString(argMax(c.source, c.ord)) AS origin FROM ${tables.of('changes')} AS c WHERE ${where} AND c.ord <= {last_ord:UInt64} GROUP BY token, account ORDER BY token, account`,
    { holdings, last_ord },
    options,
  );
  await insert(
    'balances',
    expected.map(({ token, account, last, at, balance, origin }) =>
      JSON.stringify({ token, account, ord: last, height: at, amount: balance, source: origin }),
    ),
  );
  const standing = await database.rows<Standing>(
    `SELECT token, account, toString(shortfall) AS place, since, sum(sign) AS n FROM ${tables.of('holders')} WHERE ${where} GROUP BY token, shortfall, account, since HAVING n != 0`,
    { holdings },
    options,
  );
  await insert('holders', correctionsOf(expected, standing));
}

/**
 * Rows that turn what stands in the list into what should. They carry the number of the
 * holding's last change, so that a deeper cut removes them together with that change.
 */
function correctionsOf(expected: readonly Expected[], standing: readonly Standing[]): string[] {
  const byHolding = new Map<HoldingKey, Standing[]>();
  for (const row of standing) {
    const key = holdingKey(row.token, row.account);
    byHolding.set(key, [...(byHolding.get(key) ?? []), row]);
  }
  const lines: string[] = [];
  for (const { token, account, last, balance } of expected) {
    const place = String(shortfallOf(BigInt(balance)));
    let isThere = balance === '0';
    for (const row of byHolding.get(holdingKey(token, account)) ?? []) {
      const isWanted = !isThere && row.place === place && row.since === last && row.n === 1;
      if (isWanted) isThere = true;
      else
        for (let left = row.n; left !== 0; left -= Math.sign(left))
          lines.push(lineOf(token, row.place, account, row.since, -Math.sign(left), last));
    }
    if (!isThere) lines.push(lineOf(token, place, account, last, 1, last));
  }
  return lines;
}

const lineOf = (
  token: string,
  shortfall: string,
  account: string,
  since: number,
  sign: number,
  ord: number,
): string => JSON.stringify({ token, shortfall, account, since, sign, ord });
