import type { Call } from '../../common/clickhouse/database.js';
import { shortfallOf } from '../amount.js';
import { comparePlaces, indexOf, type Place, type Stretch } from '../store/stretches.js';
import type { Reader } from './reader.js';

/*
 * A merge drops the place that a holder had when the row that takes it back stands beside it,
 * and the older of two ranks. The rows that do so may be newer than what calls may read: the
 * batch that is being written, or was when its writer was killed, and on a process that only
 * serves whatever was written since it last looked. So lists are read with their newest rows,
 * and the holders that changed since are put back to where the changes, of which nothing is
 * ever dropped, had them. Changes are written before what follows from them: whoever reads
 * them last knows of every newer row that was met before.
 */

/** What a holder had at one point of the changes, and at a later one; 0 is no place. */
export interface LaterChange {
  readonly before: bigint;
  readonly after: bigint;
}

/** By account, those who changed between two points. */
export type LaterChanges = ReadonlyMap<string, LaterChange>;

/** Numbers of changes. */
interface Span {
  /** The last that counts for `before`. */
  readonly above: number;
  /** The last that counts for `after`; undefined for all that there are. */
  readonly upTo?: number | undefined;
}

/** Accounts that one statement asks about. */
const accountsAtOnce = 2_000;

/** Reads who changed in a span: nearly always nobody, which the process that writes the tables knows without reading. */
export async function readLaterChanges(
  { database, tables, newest }: Reader,
  token: string,
  { above, upTo = Number.MAX_SAFE_INTEGER }: Span,
  call: Call,
): Promise<LaterChanges> {
  if (newest() <= above) return new Map();
  const params = { token, above, upTo };
  const changed = await database.rows<{ account: string }>(
    `SELECT DISTINCT account FROM ${tables.of('changes')} AS c WHERE token = {token:String} AND c.ord > {above:UInt64} AND c.ord <= {upTo:UInt64}`,
    params,
    { name: 'richlist.later', ...call },
  );
  const changes = new Map<string, LaterChange>();
  for (let from = 0; from < changed.length; from += accountsAtOnce) {
    const accounts = changed.slice(from, from + accountsAtOnce).map(({ account }) => account);
    const rows = await database.rows<{ account: string; earlier: string; later: string }>(
      `SELECT account, toString(argMaxIf(c.amount, c.ord, c.ord <= {above:UInt64})) AS earlier, toString(argMax(c.amount, c.ord)) AS later FROM ${tables.of('changes')} AS c WHERE token = {token:String} AND account IN {accounts:Array(String)} AND c.ord <= {upTo:UInt64} GROUP BY account`,
      { ...params, accounts },
      { name: 'richlist.later_changes', ...call },
    );
    for (const { account, earlier, later } of rows)
      changes.set(account, { before: BigInt(earlier), after: BigInt(later) });
  }
  return changes;
}

/** A stretch of a list that was read: beyond `from`, up to `to` inclusive; without, its ends. */
export interface Covered {
  readonly from: (Place & { readonly inclusive: boolean }) | undefined;
  readonly to: Place | undefined;
  readonly descending: boolean;
}

/** Puts the holders of a part of a list back to where they were before changes, in its order. */
export function placesBefore(places: readonly Place[], changes: LaterChanges, part: Covered): Place[] {
  if (changes.size === 0) return [...places];
  const direction = part.descending ? -1 : 1;
  const isCovered = (place: Place): boolean => {
    const { from, to } = part;
    const beyond = from === undefined ? 1 : direction * comparePlaces(place, from);
    const within = to === undefined || direction * comparePlaces(place, to) <= 0;
    return within && (beyond > 0 || (beyond === 0 && from?.inclusive === true));
  };
  const back = [...changes]
    .filter(([, { before }]) => before > 0n)
    .map(([account, { before }]) => ({ shortfall: shortfallOf(before), account }))
    .filter(isCovered);
  return [...places.filter(({ account }) => !changes.has(account)), ...back].sort(
    (a, b) => direction * comparePlaces(a, b),
  );
}

/** Counts holders where they were before changes, in the stretches of after them. */
export function stretchesBefore(stretches: readonly Stretch[], changes: LaterChanges): Stretch[] {
  const counted = stretches.map((stretch) => ({ ...stretch }));
  const add = (account: string, amount: bigint, count: number): void => {
    const stretch = counted[indexOf(counted, { shortfall: shortfallOf(amount), account })];
    if (amount > 0n && stretch !== undefined) stretch.count += count;
  };
  for (const [account, { before, after }] of changes) {
    add(account, after, -1);
    add(account, before, 1);
  }
  return counted;
}
