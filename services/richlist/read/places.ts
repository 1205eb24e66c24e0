import type { Call } from '../../common/clickhouse/database.js';
import type { Place } from '../store/stretches.js';
import type { Reader } from './reader.js';

/** What to read of a token's list. */
export interface PlacesRequest {
  readonly token: string;
  /** Begin here; undefined for the end of the list that the order begins with. */
  readonly from: (Place & { readonly inclusive: boolean }) | undefined;
  /** Against the list's own order: smallest amounts first. */
  readonly descending: boolean;
  readonly skip: number;
  readonly limit: number;
  /** Number of the last change that counts. */
  readonly upTo: number;
}

/** Rows read at a time: of each place there may be several until a merge drops them. */
const [fewest, most] = [64, 16_384];

/**
 * Reads holders in the order of the list. No FINAL: rows are read as they stand, and those of
 * one place are added up here.
 */
export async function readPlaces(
  { database, tables }: Reader,
  request: PlacesRequest,
  call: Call,
): Promise<Place[]> {
  const { token, descending, skip, limit, upTo } = request;
  const [order, beyond] = descending ? ['DESC', '<'] : ['ASC', '>'];
  const places: Place[] = [];
  const wanted = skip + limit;
  let from = request.from;
  let rows_at_once = Math.max(fewest, Math.min(most, 2 * wanted + 32));
  while (places.length < wanted) {
    const condition =
      from === undefined
        ? ''
        : `AND shortfall ${beyond}= {from:UInt256} AND (shortfall, account) ${beyond}${from.inclusive ? '=' : ''} ({from:UInt256}, {account:String})`;
    const rows = await database.rows<{ place: string; account: string; sign: number }>(
      `SELECT toString(shortfall) AS place, account, sign FROM ${tables.of('holders')} WHERE token = {token:String} AND ord <= {upTo:UInt64} ${condition} ORDER BY token ${order}, shortfall ${order}, account ${order} LIMIT {rows:UInt64}`,
      { token, upTo, rows: rows_at_once, from: String(from?.shortfall ?? 0n), account: from?.account ?? '' },
      { name: 'richlist.places', ...call },
    );
    const groups = groupRows(rows);
    // Other rows of the last place may have been cut off.
    const isEnd = rows.length < rows_at_once;
    if (!isEnd) groups.pop();
    for (const { place, account, sum } of groups)
      if (sum > 0) places.push({ shortfall: BigInt(place), account });
    if (isEnd) break;
    const last = groups.at(-1);
    if (last !== undefined) from = { shortfall: BigInt(last.place), account: last.account, inclusive: false };
    rows_at_once = Math.min(most, rows_at_once * 2);
  }
  return places.slice(skip, wanted);
}

function groupRows(rows: readonly { place: string; account: string; sign: number }[]) {
  const groups: { place: string; account: string; sum: number }[] = [];
  for (const { place, account, sign } of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last.place === place && last.account === account) last.sum += sign;
    else groups.push({ place, account, sum: sign });
  }
  return groups;
}
