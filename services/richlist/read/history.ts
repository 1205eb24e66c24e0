import { status } from '@grpc/grpc-js';
import type { Call } from '../../common/clickhouse/database.js';
import type { Change, GetBalanceResponse, Holder } from '../../common/gen/indexer/richlist/v1/richlist.js';
import { beyondSql } from '../../common/page/view.js';
import { RpcError } from '../../common/runtime/errors.js';
import { isRepairing } from '../../common/writer/head-table.js';
import { type Position, servedHeight } from '../store/cursor.js';
import type { Reader } from './reader.js';

/** Changes that one message of a stream has at most. */
const changesAtOnce = 5_000;

/** A window of heights as the tables had it when a call began. */
export interface Moment {
  readonly from: number;
  readonly to: number;
  readonly position: Position;
  readonly revision: number;
}

/**
 * Checks heights against what is indexed.
 *
 * @param from 0 means the first that is known, and `to` 0 the latest.
 * @throws RpcError OUT_OF_RANGE for heights that are not indexed.
 */
export function momentOf({ head }: Reader, from: number, to: number): Moment {
  const { position, revision } = head;
  const [first, last] = [position.seed_height, servedHeight(position)];
  if (last === 0) throw new RpcError(status.OUT_OF_RANGE, 'no balance is known yet');
  const moment = { from: from === 0 ? first : from, to: to === 0 ? last : to, position, revision };
  for (const height of [moment.from, moment.to])
    if (height < first || height > last)
      throw new RpcError(
        status.OUT_OF_RANGE,
        `height ${height} is not indexed: balances are known from ${first} to ${last}`,
      );
  return moment;
}

/** The balance of an account after a block: one short read. @throws RpcError ABORTED */
export async function balanceAt(
  reader: Reader,
  token: string,
  account: string,
  moment: Moment,
  call: Call,
): Promise<GetBalanceResponse> {
  const { database, tables } = reader;
  const { to, position } = moment;
  const [row] = await database.rows<{ balance: string; at: number }>(
    `SELECT toString(c.amount) AS balance, c.height AS at FROM ${tables.of('changes')} AS c WHERE token = {token:String} AND account = {account:String} AND c.ord <= {upTo:UInt64} AND c.height <= {height:UInt64} ORDER BY token DESC, account DESC, c.ord DESC LIMIT 1`,
    { token, account, upTo: position.last_ord, height: to },
    { name: 'richlist.balance_at', ...call },
  );
  await checkMoment(reader, moment);
  return { amount: row?.balance ?? '0', height: to, changed_height: row?.at ?? 0 };
}

/** Every holder after a block, in the order of accounts, some at a time. @throws RpcError ABORTED */
export async function* holdersAt(
  reader: Reader,
  token: string,
  moment: Moment,
  call: Call,
): AsyncGenerator<Holder[], void, undefined> {
  const { database, tables } = reader;
  const { to, position } = moment;
  for await (const range of accountRanges(reader, token, call)) {
    const rows = await database.rows<{ readonly account: string; readonly balance: string }>(
      `SELECT account, toString(argMax(c.amount, c.ord)) AS balance
       FROM ${tables.of('changes')} AS c
       WHERE ${ofAccounts} AND c.height <= {to:UInt64}
       GROUP BY account
       HAVING argMax(c.amount, c.ord) > 0
       ORDER BY account`,
      { token, ...range, last_ord: position.last_ord, to },
      { name: 'richlist.holders_at', ...call },
    );
    await checkMoment(reader, moment);
    if (rows.length > 0)
      yield rows.map(({ account, balance }) => ({ account: `0x${account}`, amount: balance }));
  }
  await checkMoment(reader, moment);
}

/** Every change in a window of heights, account by account. @throws RpcError ABORTED */
export async function* changesBetween(
  reader: Reader,
  token: string,
  moment: Moment,
  call: Call,
): AsyncGenerator<Change[], void, undefined> {
  const { database, tables } = reader;
  const { from, to, position } = moment;
  for await (const range of accountRanges(reader, token, call)) {
    // An account may have any number of changes.
    for (let after = [range.above, Number.MAX_SAFE_INTEGER] as const; ; ) {
      const [account, ord] = after;
      const rows = await database.rows<ChangeRow>(
        `SELECT account, c.ord AS ord, c.height AS at, toString(c.amount) AS balance, c.source = 'heal' AS is_heal
         FROM ${tables.of('changes')} AS c
         WHERE ${ofAccounts} AND c.height BETWEEN {from:UInt64} AND {to:UInt64} AND ${beyondSql(place, { side: 'after' })}
         ORDER BY token, account, c.ord
         LIMIT {limit:UInt64}`,
        { token, ...range, last_ord: position.last_ord, from, to, account, ord, limit: changesAtOnce },
        { name: 'richlist.changes', ...call },
      );
      await checkMoment(reader, moment);
      if (rows.length > 0)
        yield rows.map((row) => ({
          account: `0x${row.account}`,
          height: row.at,
          amount: row.balance,
          is_heal: Boolean(row.is_heal),
        }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < changesAtOnce) break;
      after = [last.account, last.ord];
    }
  }
  await checkMoment(reader, moment);
}

/** A change as the table has it. */
interface ChangeRow {
  readonly account: string;
  readonly ord: number;
  readonly at: number;
  readonly balance: string;
  readonly is_heal: number | boolean;
}

/** The place of a change within its token. */
const place = [
  ['c.account', '{account:String}'],
  ['c.ord', '{ord:UInt64}'],
] as const;

/** The changes of a range of accounts in a token, as a call sees them. */
const ofAccounts =
  'token = {token:String} AND account > {above:String} AND account <= {upTo:String} AND c.ord <= {last_ord:UInt64}';

/**
 * Ranges of accounts that ever held a token, in order; from the changes, which are complete up
 * to the cursor whatever is being removed and made again.
 */
async function* accountRanges(
  { database, tables }: Reader,
  token: string,
  call: Call,
): AsyncGenerator<{ above: string; upTo: string }, void, undefined> {
  for (let above = ''; ; ) {
    const [range] = await database.rows<{ upTo: string; n: number }>(
      `SELECT max(account) AS upTo, count() AS n FROM (SELECT account FROM ${tables.of('changes')} WHERE token = {token:String} AND account > {above:String} ORDER BY token, account LIMIT {limit:UInt64})`,
      { token, above, limit: changesAtOnce },
      { name: 'richlist.account_range', ...call },
    );
    if (range === undefined || range.n === 0) return;
    yield { above, upTo: range.upTo };
    above = range.upTo;
  }
}

/** @throws RpcError ABORTED when the chain was rolled back since, or rows are missing: what was sent may be void. */
async function checkMoment({ head, look }: Reader, { revision }: Moment): Promise<void> {
  await look?.();
  if (head.revision !== revision || isRepairing(head.repairs))
    throw new RpcError(status.ABORTED, 'the chain was rolled back while its balances were read');
}
