import type { StageTx } from '../store/rows.js';

/** How often a list is sent, or its finalization fails, before it is waited in between. */
const freely = 6;

/** The first wait, which is doubled by each further time, and the longest. Milliseconds. */
const firstWait_ms = 60_000;
export const longestWait_ms = 3_600_000;

/**
 * Until when nothing more is sent for a list, because what was sent for it came to nothing again and again: txs cost
 * money, and whoever undoes them, or shows them undone, may go on for ever. Goes by the tables, so that a restart begins
 * nothing anew. A pure function.
 *
 * @param txs of one stage.
 * @param size scores that one sending of the list has.
 * @returns milliseconds since the epoch; 0 while it may be sent at once.
 */
export function futileUntil(
  txs: readonly StageTx[],
  { purpose, list_hash }: Pick<StageTx, 'purpose' | 'list_hash'>,
  size: number,
): number {
  const paid = txs.filter(
    (tx) =>
      tx.purpose === purpose &&
      tx.list_hash === list_hash &&
      (tx.state === 'failed' || (tx.state === 'mined' && purpose === 'update')),
  );
  const scores = paid.reduce((sum, { score_count }) => sum + score_count, 0);
  const times = purpose === 'finalize' ? paid.length : Math.floor(scores / Math.max(1, size));
  if (times < freely) return 0;
  const last = Math.max(...paid.map(({ updated_at }) => updated_at));
  return last + Math.min(longestWait_ms, firstWait_ms * 2 ** Math.min(16, times - freely));
}
