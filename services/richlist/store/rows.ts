import { shortfallOf } from '../amount.js';
import { type Balance, type HoldingKey, holdingKey, holdingOf, type Source } from './balance.js';
import type { Move, RankRow } from './ranks.js';

/** What a batch writes, and what it changes in memory once it is written. */
export interface Batch {
  readonly changes: string[];
  /** By holding: what it had before the batch, and what it has at its end. */
  readonly ends: Map<HoldingKey, { readonly before: Balance | undefined; balance: Balance; source: Source }>;
  /** By token its first change, and the number of its last. */
  readonly tokens: Map<string, { readonly height: number; readonly ord: number; last_ord: number }>;
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
  batch.changes.push(JSON.stringify({ token, account, ord, height, amount: String(amount), source }));
  const touched = batch.tokens.get(token);
  if (touched === undefined) batch.tokens.set(token, { height, ord, last_ord: ord });
  else touched.last_ord = ord;
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

/**
 * Rows of `ranks`, those of a token in one text, so that no insert is cut between them: readers see all or none. Each
 * carries the number of its own token's change, so that a rollback into the middle of a batch leaves alone what
 * changed before.
 */
export function rankRows({ tokens }: Batch, rows: readonly RankRow[]): string[] {
  const byToken = new Map<string, string[]>();
  for (const row of rows) {
    const line = JSON.stringify({ ...row, ord: tokens.get(row.token)?.last_ord });
    const lines = byToken.get(row.token);
    if (lines === undefined) byToken.set(row.token, [line]);
    else lines.push(line);
  }
  return [...byToken.values()].map((lines) => lines.join('\n'));
}

/** What the ranks have to know. */
export function movesOf({ ends }: Batch): Move[] {
  return [...ends].map(([key, { before, balance }]) => ({
    ...holdingOf(key),
    from: before?.amount ?? 0n,
    to: balance.amount,
  }));
}
