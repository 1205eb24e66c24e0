import type { Call } from '../../common/clickhouse/database.js';
import type { Place } from '../store/stretches.js';
import { placesBefore, readLaterChanges } from './later.js';
import type { Reader } from './reader.js';

/** What to read of a token's list. */
export interface PlacesRequest {
  readonly token: string;
  /** Begin here; undefined for the end of the list that the order begins with. */
  readonly from: Start | undefined;
  /** Against the list's own order: smallest amounts first. */
  readonly descending: boolean;
  readonly skip: number;
  readonly limit: number;
  /** Number of the last change that counts. */
  readonly upTo: number;
}

/** Where reading begins. */
export type Start = Place & { readonly inclusive: boolean };

/** Rows of the first window: of each place there may be several until a merge drops them. */
const [fewest, most] = [64, 16_384];

/**
 * Rows that are looked over after a window without enough holders, first and at most: where many
 * have just left, nothing but the holders who stay is sent.
 */
const [rowsOver, mostOver, growth] = [8_192, 524_288, 8];

/** Reads holders in the order of the list, as they were after a change. */
export async function readPlaces(reader: Reader, request: PlacesRequest, call: Call): Promise<Place[]> {
  const { token, descending, skip, upTo } = request;
  const wanted = skip + request.limit;
  const newest: Place[] = [];
  let { from } = request;
  for (let missing = wanted; ; ) {
    const read = await readNewest(reader, { ...request, from }, missing, call);
    for (const place of read.places) newest.push(place);
    // After the rows: whoever was moved in them is told.
    const changes = await readLaterChanges(reader, token, { above: upTo }, call);
    const places = placesBefore(newest, changes, { from: request.from, to: read.to, descending });
    if (read.to === undefined || places.length >= wanted) return places.slice(skip, wanted);
    missing = wanted - places.length;
    from = { ...read.to, inclusive: false };
  }
}

/** Some holders of a list. */
interface NewestPlaces {
  readonly places: Place[];
  /** They are all that there are up to here; undefined for the list's end. */
  readonly to: Place | undefined;
}

/**
 * Reads at least so many holders, unless the list ends before, with the newest rows that there
 * are. No FINAL: rows are read as they stand, and those of one place are added up.
 */
async function readNewest(
  reader: Reader,
  request: PlacesRequest,
  wanted: number,
  call: Call,
): Promise<NewestPlaces> {
  const rows_at_once = Math.max(fewest, Math.min(most, 2 * wanted + 32));
  const rows = await readRows(reader, request, rows_at_once, call);
  const groups = groupRows(rows);
  const isEnd = rows.length < rows_at_once;
  // Other rows of the last place may have been cut off.
  if (!isEnd) groups.pop();
  const places = groups.flatMap(({ sum, ...place }) => (sum > 0 ? [place] : []));
  if (isEnd) return { places, to: undefined };
  let last: Place | undefined = groups.at(-1);
  let from = request.from;
  for (let over = rowsOver; places.length < wanted; over = Math.min(mostOver, over * growth)) {
    if (last !== undefined) from = { ...last, inclusive: false };
    last = await readPlaceAfter(reader, { ...request, from }, over, call);
    const missing = wanted - places.length;
    const between = await readBetween(reader, { ...request, from }, last, missing, call);
    for (const place of between) places.push(place);
    if (between.length === missing) return { places, to: places.at(-1) };
    if (last === undefined) break;
  }
  return { places, to: last };
}

interface Row {
  readonly place: string;
  readonly account: string;
}

const placeOf = ({ place, account }: Row): Place => ({ shortfall: BigInt(place), account });

/** The condition for a part of a list, from a place on and up to another one, which is included. */
function partOf({ token, from, descending }: PlacesRequest, to?: Place) {
  const [beyond, before] = descending ? ['<', '>'] : ['>', '<'];
  // Not as a comparison of tuples: of that the primary key uses the first part only.
  const bound = (name: string, over: string, orEqual: string): string =>
    ` AND (shortfall ${over} {${name}:UInt256} OR (shortfall = {${name}:UInt256} AND account ${over}${orEqual} {${name}_account:String}))`;
  return {
    where: `token = {token:String}${from === undefined ? '' : bound('from', beyond, from.inclusive ? '=' : '')}${to === undefined ? '' : bound('to', before, '=')}`,
    params: {
      token,
      ...(from === undefined ? {} : { from: String(from.shortfall), from_account: from.account }),
      ...(to === undefined ? {} : { to: String(to.shortfall), to_account: to.account }),
    },
  };
}

const orderOf = ({ descending }: PlacesRequest): string => {
  const order = descending ? 'DESC' : 'ASC';
  return `token ${order}, shortfall ${order}, account ${order}`;
};

/** So many rows, as they stand. */
function readRows(
  { database, tables }: Reader,
  request: PlacesRequest,
  rows: number,
  call: Call,
): Promise<(Row & { readonly sign: number })[]> {
  const { where, params } = partOf(request);
  return database.rows(
    `SELECT toString(shortfall) AS place, account, sign FROM ${tables.of('holders')} WHERE ${where} ORDER BY ${orderOf(request)} LIMIT {rows:UInt64}`,
    { ...params, rows },
    { name: 'richlist.places', ...call },
  );
}

/** The place that so many rows of a list end at; undefined when it has no more. */
async function readPlaceAfter(
  { database, tables }: Reader,
  request: PlacesRequest,
  rows: number,
  call: Call,
): Promise<Place | undefined> {
  const { where, params } = partOf(request);
  const [row] = await database.rows<Row>(
    `SELECT toString(shortfall) AS place, account FROM ${tables.of('holders')} WHERE ${where} ORDER BY ${orderOf(request)} LIMIT 1 OFFSET {rows:UInt64}`,
    { ...params, rows },
    { name: 'richlist.place_after', ...call },
  );
  return row && placeOf(row);
}

/** The holders from one place of a list up to another, or to its end. */
async function readBetween(
  { database, tables }: Reader,
  request: PlacesRequest,
  to: Place | undefined,
  limit: number,
  call: Call,
): Promise<Place[]> {
  const { where, params } = partOf(request, to);
  const rows = await database.rows<Row>(
    `SELECT toString(h.shortfall) AS place, account FROM ${tables.of('holders')} AS h WHERE ${where} GROUP BY token, shortfall, account HAVING sum(sign) > 0 ORDER BY ${orderOf(request)} LIMIT {limit:UInt64}`,
    { ...params, limit },
    { name: 'richlist.places_between', ...call },
  );
  return rows.map(placeOf);
}

function groupRows(rows: readonly (Row & { readonly sign: number })[]): (Place & { sum: number })[] {
  const groups: (Place & { sum: number })[] = [];
  let text = '';
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && text === row.place && last.account === row.account) last.sum += row.sign;
    else groups.push({ ...placeOf(row), sum: row.sign });
    text = row.place;
  }
  return groups;
}
