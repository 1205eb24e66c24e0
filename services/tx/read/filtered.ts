import type { Call } from '../../common/clickhouse/database.js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { decodeKey, encodeKey, keyNumber } from '../../common/page/key.js';
import { accountLists } from '../store/tables.js';
import { emptyRange, type SequenceRange } from './block-ranges.js';
import { type BodyPage, type SequencePage, withBodies } from './lists.js';
import type { Reader } from './reader.js';

/** An item of a list with gaps: where it stands in it, and its tx. */
interface Place {
  readonly position: number;
  readonly sequence: number;
}

/**
 * The sets of message types that have any of the types `{msgs}`. Anybody can make txs with any combination of types: the
 * engine looks the sets up, so that parameters do not grow with them.
 */
const setsWithAny = (reader: Reader): string =>
  `msg_set GLOBAL IN (SELECT m.msg_set AS msg_set FROM ${reader.tables.of('msg_sets')} AS m WHERE hasAny(m.msgs, {msgs:Array(String)}))`;

/** The list's name in keys: the same types in any order are the same list. */
const named = (list: string, msgs: readonly string[]): string => `${list}?msgs=${[...msgs].sort().join(',')}`;

/** What to read for a page of a list whose positions have gaps. */
interface Window {
  readonly name: string;
  readonly request: PageRequest;
  /** Only items strictly beyond this position; undefined: from the list's end. */
  readonly anchor: number | undefined;
  readonly descending: boolean;
  readonly offset: number;
  /** One more than the page shows, to see whether more follow. */
  readonly limit: number;
  /** The page lies before its anchor: what was read is turned round to be shown. */
  readonly flipped: boolean;
}

/** @throws RpcError INVALID_ARGUMENT for a key that is not of this list. */
function windowOf(name: string, request: PageRequest): Window {
  const key = request.key === '' ? undefined : decodeKey(name, request.key, 1);
  const flipped = key?.side === 'before';
  return {
    ...{ name, request, flipped },
    anchor: key === undefined ? undefined : keyNumber(key.position[0]),
    descending: request.reverse !== flipped,
    offset: key === undefined ? request.offset : 0,
    limit: request.limit + 1,
  };
}

/** The page of a window that was read, with its bodies. A page that has to be shorter shows the first of what was read. */
const pageOfPlaces = (
  reader: Reader,
  window: Window,
  places: readonly Place[],
  total: number,
  call: Call,
): Promise<BodyPage> =>
  withBodies(reader, 'tx', window.request, ({ limit }) => shownOf(window, limit, places, total), call);

/** What a page shows of the places that were read, and its keys. */
function shownOf(window: Window, limit: number, places: readonly Place[], total: number): SequencePage {
  const { name, request, anchor, offset, flipped } = window;
  const shown = places.slice(0, limit);
  if (flipped) shown.reverse();
  const hasMore = places.length > limit;
  // The key for the page before one past the end leads from here, where no item stands.
  const end = request.reverse ? 0 : Number.MAX_SAFE_INTEGER;
  // Any other anchor was an item of the list when its key was given out: nothing of it ever goes.
  const hasAnchor = flipped ? anchor !== end : anchor !== undefined || offset > 0;
  const [hasNext, hasPrevious] = flipped ? [hasAnchor, hasMore] : [hasMore, hasAnchor];
  const last = shown.at(-1);
  const before = shown[0]?.position ?? (offset > 0 && total > 0 ? end : undefined);
  return {
    sequences: shown.map(({ sequence }) => sequence),
    pagination: {
      next_key: hasNext && last !== undefined ? encodeKey(name, 'after', [last.position]) : '',
      previous_key: hasPrevious && before !== undefined ? encodeKey(name, 'before', [before]) : '',
      total: request.count_total ? String(total) : '0',
    },
  };
}

/** A list without items. */
const emptyPage: BodyPage = {
  bodies: [],
  large: undefined,
  pagination: { next_key: '', previous_key: '', total: '0' },
};

/** Txs that have a message of any of the types. */
export async function listByMsgs(
  reader: Reader,
  msgs: readonly string[],
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const name = named('tx', msgs);
  const window = windowOf(name, request);
  const last = reader.head.position.last.tx;
  // Answered from the primary index: the lists are not read.
  const [counted] = await reader.database.rows<{ n: number }>(
    `SELECT count() AS n FROM ${reader.tables.of('msg_set_txs')} WHERE ${setsWithAny(reader)} AND sequence <= {last:UInt64}`,
    { msgs, last },
    { name: 'tx.msgs_count', ...call },
  );
  const total = counted?.n ?? 0;
  if (total === 0) return emptyPage;
  const places = await readSetWindow(reader, msgs, { first: 1, last }, window, total / last, call);
  return pageOfPlaces(reader, window, places, total, call);
}

/** How many matching txs a part of the table should hold: few to sort, plenty for a page. */
const aimedMatches = 5_000;

/**
 * Reads a window of the merged lists of several sets. The sort key is (msg_set, sequence),
 * so that sorting by sequence alone would read the lists from end to end: a part of the
 * table that most likely holds the page is read instead, and a larger one if it did not.
 *
 * @param density matching txs among all, between 0 and 1.
 */
async function readSetWindow(
  reader: Reader,
  msgs: readonly string[],
  bounds: SequenceRange,
  window: Window,
  density: number,
  call: Call,
): Promise<Place[]> {
  const { anchor, offset, limit, descending } = window;
  const first = descending || anchor === undefined ? bounds.first : Math.max(bounds.first, anchor + 1);
  const last = !descending || anchor === undefined ? bounds.last : Math.min(bounds.last, anchor - 1);
  let width = density > 0 ? Math.ceil((aimedMatches + 2 * (offset + limit)) / density) : last;
  for (;;) {
    const from = descending ? Math.max(first, last - width + 1) : first;
    const to = descending ? last : Math.min(last, first + width - 1);
    const rows = await reader.database.rows<{ sequence: number }>(
      `SELECT sequence FROM ${reader.tables.of('msg_set_txs')} WHERE ${setsWithAny(reader)} AND sequence BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY sequence ${descending ? 'DESC' : 'ASC'} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
      { msgs, from, to, limit, offset },
      { name: 'tx.msgs_page', ...call },
    );
    if (rows.length === limit || (from <= first && to >= last)) {
      return rows.map(({ sequence }) => ({ position: sequence, sequence }));
    }
    width *= 8;
  }
}

/** Txs of a block that have a message of any of the types. */
export async function listByHeightAndMsgs(
  reader: Reader,
  height: number,
  msgs: readonly string[],
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const name = named(`tx/by_height/${height}`, msgs);
  const window = windowOf(name, request);
  const { position } = reader.head;
  const range =
    height < 1 || height > position.height ? emptyRange : await reader.blockRanges('tx', height, call);
  if (range.last < range.first) return emptyPage;
  const { first, last } = range;
  const [counted] = await reader.database.rows<{ n: number }>(
    `SELECT count() AS n FROM ${reader.tables.of('msg_set_txs')} WHERE ${setsWithAny(reader)} AND sequence BETWEEN {first:UInt64} AND {last:UInt64}`,
    { msgs, first, last },
    { name: 'tx.height_msgs_count', ...call },
  );
  const total = counted?.n ?? 0;
  if (total === 0) return emptyPage;
  const places = await readSetWindow(reader, msgs, range, window, 0, call);
  return pageOfPlaces(reader, window, places, total, call);
}

/** Txs of an account, or signed by it, that have a message of any of the types. */
export async function listByAccountAndMsgs(
  reader: Reader,
  account: string,
  sent: boolean,
  msgs: readonly string[],
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const list = accountLists.tx[sent ? 'sent' : 'named'];
  const name = named(`${list}/by_account/${account}`, msgs);
  const window = windowOf(name, request);
  const upTo = reader.head.position.last.tx;
  const { count } = await reader.accounts.end(list, account, upTo, call);
  if (count === 0) return emptyPage;
  const table = reader.tables.of('account_items');
  const params = { list, account, msgs, count };
  const condition = `list = {list:String} AND account = {account:String} AND ${setsWithAny(reader)} AND ord <= {count:UInt64}`;
  const countAll = async (): Promise<number> => {
    const [row] = await reader.database.rows<{ n: number }>(
      `SELECT count() AS n FROM ${table} WHERE ${condition}`,
      params,
      { name: 'tx.account_msgs_count', ...call },
    );
    return row?.n ?? 0;
  };
  const { anchor, descending, limit, offset } = window;
  const beyond = anchor === undefined ? '' : `AND ord ${descending ? '<' : '>'} {anchor:UInt64}`;
  const [places, counted] = await Promise.all([
    reader.database.rows<Place>(
      `SELECT ord AS position, sequence FROM ${table} WHERE ${condition} ${beyond} ORDER BY list ${order(descending)}, account ${order(descending)}, ord ${order(descending)} LIMIT {limit:UInt64} OFFSET {offset:UInt64}`,
      { ...params, anchor, limit, offset },
      { name: 'tx.account_msgs_page', ...call },
    ),
    request.count_total ? countAll() : 0,
  ]);
  // Whether anything lies before an empty page is only known by counting.
  const total = places.length === 0 && !request.count_total ? await countAll() : counted;
  return pageOfPlaces(reader, window, places, total, call);
}

const order = (descending: boolean): string => (descending ? 'DESC' : 'ASC');
