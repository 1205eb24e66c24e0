import type { AccountKey } from '../../common/chain/address.js';

/** An account and a token, both lower-case hex without 0x. */
export interface Holding {
  readonly token: string;
  readonly account: AccountKey;
}

/** Where a balance came from: the node before the first block, a log, or the node again. */
export type Source = 'seed' | 'log' | 'heal';

/** A balance after its last change. */
export interface Balance {
  readonly amount: bigint;
  /** Number of that change, and the height that it was at. */
  readonly ord: number;
  readonly height: number;
}

/** One name of a holding for maps. */
export type HoldingKey = string;

export const holdingKey = (token: string, account: AccountKey): HoldingKey => `${token}${account}`;

/** The holding that a key names: both parts are 40 digits. */
export const holdingOf = (key: HoldingKey): Holding => ({ token: key.slice(0, 40), account: key.slice(40) });

/** The largest amount that a token can have: its type is uint256. */
export const largestAmount = 2n ** 256n - 1n;

/** Where an amount stands in the list, the largest first: its bits inverted. Its own inverse. */
export const placeOf = (amount: bigint): bigint => largestAmount - amount;

/** An amount within what a balance can be; `fits` says whether it was. */
export function clampAmount(amount: bigint): { readonly amount: bigint; readonly fits: boolean } {
  if (amount < 0n) return { amount: 0n, fits: false };
  if (amount > largestAmount) return { amount: largestAmount, fits: false };
  return { amount, fits: true };
}
