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
