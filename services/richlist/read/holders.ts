import type { Call } from '../../common/clickhouse/database.js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../common/gen/indexer/richlist/v1/richlist.js';
import {
  type MovingPage,
  memoryList,
  movingPage,
  type Position,
  type Range,
} from '../../common/page/moving.js';
import { beyondSql, viewPageSql } from '../../common/page/view.js';
import { invalidArgument } from '../../common/runtime/errors.js';
import { largestAmount } from '../store/balance.js';
import { servedHeight } from '../store/cursor.js';
import type { Reader } from './reader.js';

/** Lists the holders of a token. @throws RpcError INVALID_ARGUMENT for a key of another list. */
export function listHolders(
  reader: Reader,
  token: string,
  page: PageRequest,
  call: Call,
): Promise<MovingPage<Holder>> {
  // The smallest amount comes first; pages are asked for in reverse.
  const list = { name: `holders/${token}`, ends, parse, positionOf };
  if (servedHeight(reader.head.position) === 0)
    return movingPage(
      page,
      memoryList(list, async () => []),
    );
  return movingPage(page, {
    ...list,
    read: (range) => readHolders(reader, token, range, call),
    count: () => countHolders(reader, token, call),
  });
}

/** Positions before and after every holder. */
const ends = [
  ['0', ''],
  [String(largestAmount), ''],
] as const;

const positionOf = ({ amount, account }: Holder): Position => [amount, account.slice('0x'.length)];

function parse([amount = '', account = '']: readonly string[]): Position {
  if (!/^\d{1,78}$/.test(amount) || BigInt(amount) > largestAmount || !/^([0-9a-f]{40})?$/.test(account))
    throw invalidArgument('pagination.key is not a key of this list');
  return [String(BigInt(amount)), account];
}

/** How many holders a token has: one row. */
async function countHolders({ database, tables }: Reader, token: string, call: Call): Promise<number> {
  const [row] = await database.rows<{ n: number }>(
    `SELECT c.holder_count AS n
     FROM ${tables.of('holder_counts')} AS c
     WHERE token = {token:String}
     ORDER BY c.version DESC
     LIMIT 1`,
    { token },
    { name: 'richlist.holder_count', ...call },
  );
  return row?.n ?? 0;
}

/** Reads a part of the list. Its table has the largest amount first: what comes after in the list comes before in the table. */
function readHolders(
  { database, tables }: Reader,
  token: string,
  { beyond, descending = true, offset, limit }: Range,
  call: Call,
): Promise<Holder[]> {
  const place = [
    ['v.place', 'bitNot({amount:UInt256})'],
    ['v.account', '{account:String}'],
  ] as const;
  const part =
    beyond === undefined
      ? ''
      : `AND ${beyondSql(place, { ...beyond, side: beyond.side === 'after' ? 'before' : 'after' })}`;
  const [amount, account] = beyond?.position ?? [];
  const sql = viewPageSql({
    table: tables.of('holder_list'),
    columns: { account: "concat('0x', v.account)", amount: 'toString(bitNot(v.place))' },
    key: ['token', 'place', 'account'],
    where: `v.token = {token:String} ${part}`,
    ...{ descending: !descending, skip: offset },
  });
  return database.rows<Holder>(
    sql,
    { token, limit, skip: offset, amount, account },
    { name: 'richlist.places', ...call },
  );
}
