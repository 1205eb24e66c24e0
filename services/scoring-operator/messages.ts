import type { Stage, StageTx as TxMessage } from '../common/gen/indexer/scoring/v1/scoring.js';
import type { Run, StageTx } from './store/rows.js';

/** A run as the API gives it. */
export function toStage(run: Run): Stage {
  const { window, stage, total, counts, created_at: _, ...rest } = run;
  const { start_time, end_time, from_height, to_height } = window;
  return {
    ...rest,
    stage: String(stage),
    total: String(total),
    start_time,
    end_time,
    from_height,
    to_height,
    counts: { ...counts.without, capped: counts.capped, fitted: counts.fitted },
  };
}

/** A tx as the API gives it. */
export function toTx(tx: StageTx): TxMessage {
  const { tx_hash, purpose, account, nonce, score_count, state, height, error } = tx;
  return {
    tx_hash,
    purpose,
    account,
    nonce,
    score_count,
    state,
    height,
    gas_used: String(tx.gas_used),
    error,
  };
}
