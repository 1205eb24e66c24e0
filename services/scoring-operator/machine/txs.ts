import type { Run, StageTx } from '../store/rows.js';
import { ActError, type Hands } from './act.js';
import type { MinedTx, SendHooks } from './ports.js';

/** How long a tx that waits in a node's pool is waited for, and how often it is looked at. Milliseconds. */
const [patience_ms, look_ms] = [120_000, 1_000];

/**
 * Keeps every tx in the tables: before it is sent, and when its receipt has come.
 *
 * @param already how many scores of the run the contract has before.
 */
export function keepingTxs(
  { store, clock, fault, onProgress }: Hands,
  run: Run,
  already = run.score_count,
): SendHooks {
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
 * Finds out what has become of the txs of a stage that an earlier process may have sent, and waits for those that are
 * under way: nothing new is sent while one of them may still be mined.
 *
 * @throws ActError when one stays in the pool.
 */
export async function settleTxs(hands: Hands, stage: bigint): Promise<void> {
  const { store, sender, clock } = hands;
  for (const tx of (await store.txs(stage)).filter(({ state }) => state === 'signed')) {
    const end = clock.now() + patience_ms;
    for (;;) {
      const settled = await sender.settle(tx);
      if (settled.kind === 'mined') {
        const known = { ...tx, tx_hash: settled.tx.tx_hash };
        await store.saveTx(afterReceipt(known, settled.tx, clock.now()));
      }
      const isOther = settled.kind === 'mined' && settled.tx.tx_hash !== tx.tx_hash;
      if (isOther || settled.kind === 'replaced' || settled.kind === 'unknown')
        await store.saveTx({ ...tx, state: 'replaced', updated_at: clock.now() });
      if (settled.kind !== 'pending') break;
      if (clock.now() > end)
        throw new ActError(
          'TxUnsettled',
          `stage ${stage}: the tx ${tx.tx_hash} stays in the pool of the node`,
        );
      await clock.sleep(look_ms);
    }
  }
}

function afterReceipt(tx: StageTx, { height, gas_used, is_success, error }: MinedTx, now: number): StageTx {
  return { ...tx, state: is_success ? 'mined' : 'failed', height, gas_used, error, updated_at: now };
}
