import { type Balance, type Holding, type HoldingKey, holdingKey, placeOf, type Source } from './balance.js';

/** A holding that a batch changes: what it had before, and what it has at the end. */
export interface HoldingEnd extends Holding {
  readonly before: Balance | undefined;
  balance: Balance;
  source: Source;
}

/** The balance of a holding after a block. */
interface Change extends Holding {
  readonly balance: Balance;
  readonly source: Source;
}

/**
 * What a batch writes, and what it changes in memory once it is written. Lines are made while they are written: a block
 * may change any number of holdings, and all lines of them would be larger than everything else here.
 */
export interface Batch {
  readonly changes: Change[];
  readonly ends: Map<HoldingKey, HoldingEnd>;
  /** By token its first change. */
  readonly tokens: Map<string, { readonly height: number; readonly ord: number }>;
  /** Number of the last change. */
  last_ord: number;
}

/** Starts a batch after the change with a number. */
export const startBatch = (last_ord: number): Batch => ({
  changes: [],
  ends: new Map(),
  tokens: new Map(),
  last_ord,
});

/** Adds a change: the balance of a holding after a block. */
export function addChange(
  batch: Batch,
  holding: { readonly token: string; readonly account: string },
  before: Balance | undefined,
  height: number,
  amount: bigint,
  source: Source,
): void {
  const { token, account } = holding;
  const ord = ++batch.last_ord;
  const balance: Balance = { amount, ord, height };
  batch.changes.push({ token, account, balance, source });
  if (!batch.tokens.has(token)) batch.tokens.set(token, { height, ord });
  const key = holdingKey(token, account);
  const end = batch.ends.get(key);
  if (end === undefined) batch.ends.set(key, { token, account, before, balance, source });
  else {
    end.balance = balance;
    end.source = source;
  }
}

/** Rows of `changes`. */
export function* changeRows({ changes }: Batch): Generator<string, void, undefined> {
  for (const { token, account, balance, source } of changes) {
    const { amount, ord, height } = balance;
    yield JSON.stringify({ token, account, ord, height, amount: String(amount), source });
  }
}

/** Rows of `account_balances`: the end of each holding. */
export function* balanceRows({ ends }: Batch, version: string): Generator<string, void, undefined> {
  for (const { token, account, balance, source } of ends.values()) {
    const { amount, height, ord } = balance;
    const row = { token, account, amount: String(amount), height, source, ord, version, is_deleted: 0 };
    yield JSON.stringify(row);
  }
}

/** Rows of `holder_list`: the old place is empty, the new one taken. */
export function* holderRows({ ends }: Batch, version: string): Generator<string, void, undefined> {
  for (const { token, account, before, balance } of ends.values()) {
    const row = (amount: bigint, is_deleted: 0 | 1): string =>
      JSON.stringify({ token, place: String(placeOf(amount)), account, version, is_deleted });
    const previous = before?.amount ?? 0n;
    if (previous === balance.amount) continue;
    if (previous > 0n) yield row(previous, 1);
    if (balance.amount > 0n) yield row(balance.amount, 0);
  }
}

/** Rows of `holder_counts`: a token without holders has none. */
export function* countRows(
  counts: ReadonlyMap<string, number>,
  version: string,
): Generator<string, void, undefined> {
  for (const [token, holder_count] of counts)
    yield JSON.stringify({ token, holder_count, version, is_deleted: Number(holder_count === 0) });
}
