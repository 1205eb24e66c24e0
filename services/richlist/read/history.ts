import { status } from '@grpc/grpc-js';
import type { Call } from '../../common/clickhouse/database.js';
import { RpcError } from '../../common/errors.js';
import type { Change, GetBalanceResponse, Holder } from '../../common/gen/indexer/richlist/v1/richlist.js';
import { isRepairing } from '../../common/writer/head-table.js';
import { type Position, servedHeight } from '../store/cursor.js';
import type { Reader } from './reader.js';

/** Changes that one message of a stream is about, and those of the last account beyond that. */
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
  const select = `SELECT account, toString(argMax(c.amount, c.ord)) AS balance FROM ${reader.tables.of('changes')} AS c WHERE ${ofAccounts} AND c.height <= {to:UInt64} GROUP BY account HAVING argMax(c.amount, c.ord) > 0 ORDER BY account`;
  type Row = { readonly account: string; readonly balance: string };
  for await (const rows of rowsOfAccounts<Row>(reader, token, moment, call, select, 'holders_at'))
    yield rows.map(({ account, balance }) => ({ account: `0x${account}`, amount: balance }));
}

/** Every change in a window of heights, account by account. @throws RpcError ABORTED */
export async function* changesBetween(
  reader: Reader,
  token: string,
  moment: Moment,
  call: Call,
): AsyncGenerator<Change[], void, undefined> {
  const select = `SELECT account, c.height AS at, toString(c.amount) AS balance, c.source = 'heal' AS is_heal FROM ${reader.tables.of('changes')} AS c WHERE ${ofAccounts} AND c.height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY token, account, c.ord`;
  type Row = { account: string; at: number; balance: string; is_heal: number | boolean };
  for await (const rows of rowsOfAccounts<Row>(reader, token, moment, call, select, 'changes'))
    yield rows.map(({ account, at, balance, is_heal }) => ({
      account: `0x${account}`,
      height: at,
      amount: balance,
      is_heal: Boolean(is_heal),
    }));
}

/** The changes of a range of accounts in a token, as a call sees them. */
const ofAccounts =
  'token = {token:String} AND account > {above:String} AND account <= {upTo:String} AND c.ord <= {last_ord:UInt64}';

/** The rows that a query gives of a token, range of accounts by range. @throws RpcError ABORTED */
async function* rowsOfAccounts<Row>(
  reader: Reader,
  token: string,
  moment: Moment,
  call: Call,
  select: string,
  name: string,
): AsyncGenerator<Row[], void, undefined> {
  const { from, to, position } = moment;
  for await (const range of accountRanges(reader, token, call)) {
    const rows = await reader.database.rows<Row>(
      select,
      { token, ...range, last_ord: position.last_ord, from, to },
      { name: `richlist.${name}`, ...call },
    );
    await checkMoment(reader, moment);
    if (rows.length > 0) yield rows;
  }
  await checkMoment(reader, moment);
}

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
