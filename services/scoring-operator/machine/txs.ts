import type { Run, StageTx } from '../store/rows.js';
import type { Hands } from './act.js';
import { leastHeight } from './contract-stages.js';
import type { MinedTx, SendHooks } from './ports.js';

/** How long txs that wait in a node's pool are waited for, and how often they are looked at. Milliseconds. */
const [patience_ms, look_ms] = [60_000, 1_000];

/**
 * Keeps every tx in the tables: before it is sent, and when its receipt has come.
 *
 * @param already how many scores of the run the contract has before.
 */
export function keepingTxs(hands: Hands, run: Run, already = run.score_count): SendHooks {
  const { store, clock, fault, onProgress } = hands;
  const open = new Map<string, StageTx>();
  let done = already;
  const mined = async (tx: MinedTx): Promise<void> => {
    const known = open.get(tx.tx_hash);
    if (known !== undefined) await store.saveTx(afterReceipt(known, tx, clock.now()));
    done = Math.min(run.score_count, done + (known?.score_count ?? 0));
    onProgress?.(run.stage, done, run.score_count);
    await fault?.('tx_mined');
  };
  return {
    leastHeight: () => leastHeight(hands),
    async onSigned(signed) {
      const now = clock.now();
      const tx: StageTx = {
        ...signed,
        list_hash: run.list_hash,
        state: 'signed',
        height: 0,
        gas_used: 0n,
        error: '',
        created_at: now,
        updated_at: now,
      };
      open.set(tx.tx_hash, tx);
      await store.saveTx(tx);
      await fault?.('tx_signed');
    },
    onMined: mined,
    async onReplaced(tx_hash) {
      const known = open.get(tx_hash);
      if (known !== undefined) await store.saveTx({ ...known, state: 'replaced', updated_at: clock.now() });
    },
  };
}

/**
 * Finds out what has become of the txs of a stage that an earlier process may have sent, and waits a while for those
 * that are under way. One that stays in the pool is left to the sender: it takes the nonce of the next tx to be mined
 * and so replaces what is stuck there, and at most one of the two can ever be mined.
 */
export async function settleTxs(hands: Hands, stage: bigint, signal?: AbortSignal): Promise<void> {
  const { store, sender, clock, log } = hands;
  const end = clock.now() + patience_ms;
  const at_least = await leastHeight(hands, signal);
  for (const tx of (await store.txs(stage)).filter(({ state }) => state === 'signed')) {
    let settled = await sender.settle(tx, at_least);
    while (settled.kind === 'pending' && clock.now() < end && !signal?.aborted) {
      await clock.sleep(look_ms, signal);
      settled = await sender.settle(tx, at_least);
    }
    if (settled.kind === 'pending') {
      log.warn(
        { stage: String(stage), tx_hash: tx.tx_hash },
        'a tx stays in the pool of the node: it is replaced',
      );
      continue;
    }
    const mined = settled.kind === 'mined' ? settled.tx : undefined;
    if (mined !== undefined)
      await store.saveTx(afterReceipt({ ...tx, tx_hash: mined.tx_hash }, mined, clock.now()));
    // Also the row of a tx whose hash was not known before.
    if (mined?.tx_hash !== tx.tx_hash)
      await store.saveTx({ ...tx, state: 'replaced', updated_at: clock.now() });
  }
}

function afterReceipt(tx: StageTx, { height, gas_used, is_success, error }: MinedTx, now: number): StageTx {
  return { ...tx, state: is_success ? 'mined' : 'failed', height, gas_used, error, updated_at: now };
}

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
