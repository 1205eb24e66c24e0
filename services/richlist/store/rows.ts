import { shortfallOf } from '../amount.js';
import { type Balance, type HoldingKey, holdingKey, holdingOf, type Source } from './balance.js';
import type { Move } from './ranks.js';

/** What a batch writes, and what it changes in memory once it is written. */
export interface Batch {
  readonly changes: string[];
  /** By holding: what it had before the batch, and what it has at its end. */
  readonly ends: Map<HoldingKey, { readonly before: Balance | undefined; balance: Balance; source: Source }>;
  /** Number of the last change. */
  last_ord: number;
}

/** Starts a batch after the change with a number. */
export const startBatch = (last_ord: number): Batch => ({ changes: [], ends: new Map(), last_ord });

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
  batch.changes.push(JSON.stringify({ token, account, ord, height, amount: String(amount), source }));
  const key = holdingKey(token, account);
  const end = batch.ends.get(key);
  if (end === undefined) batch.ends.set(key, { before, balance, source });
  else {
    end.balance = balance;
    end.source = source;
  }
}

/** Rows of `balances`: the end of each holding. */
export function balanceRows({ ends }: Batch): string[] {
  return [...ends].map(([key, { balance, source }]) => {
    const { amount, ...rest } = balance;
    return JSON.stringify({ ...holdingOf(key), ...rest, amount: String(amount), source });
  });
}

/** Rows of `holders`: the old place is taken back, the new one taken. */
export function holderRows({ ends }: Batch): string[] {
  const lines: string[] = [];
  for (const [key, { before, balance }] of ends) {
    const { token, account } = holdingOf(key);
    const row = (at: Balance, sign: 1 | -1): string =>
      JSON.stringify({
        token,
        shortfall: String(shortfallOf(at.amount)),
        account,
        since: at.ord,
        sign,
        ord: balance.ord,
      });
    if (before !== undefined && before.amount > 0n) lines.push(row(before, -1));
    if (balance.amount > 0n) lines.push(row(balance, 1));
  }
  return lines;
}

/** What the ranks have to know. */
export function movesOf({ ends }: Batch): Move[] {
  return [...ends].map(([key, { before, balance }]) => ({
    ...holdingOf(key),
    from: before?.amount ?? 0n,
    to: balance.amount,
  }));
}
