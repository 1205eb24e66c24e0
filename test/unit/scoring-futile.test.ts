import assert from 'node:assert/strict';
import { futileUntil } from '../../services/scoring-operator/machine/txs.js';
import type { StageTx } from '../../services/scoring-operator/store/rows.js';

const tx = (more: Partial<StageTx>): StageTx => ({
  stage: 5n,
  tx_hash: '0x1',
  purpose: 'update',
  account: '0xa',
  nonce: 1,
  score_count: 5,
  list_hash: 'list',
  state: 'mined',
  height: 1,
  gas_used: 1n,
  error: '',
  created_at: 0,
  updated_at: 1_000,
  ...more,
});
const times = (count: number, more: Partial<StageTx> = {}): StageTx[] =>
  Array.from({ length: count }, (_, index) => tx({ ...more, updated_at: 1_000 + index }));
const update = { purpose: 'update', list_hash: 'list' } as const;
const finalize = { purpose: 'finalize', list_hash: 'list' } as const;

describe('txs of a stage that come to nothing', () => {
  it('are sent at once at first, then after longer and longer waits, of an hour at most', () => {
    assert.equal(futileUntil(times(5), update, 5), 0);
    assert.equal(futileUntil(times(6), update, 5), 1_005 + 60_000);
    assert.equal(futileUntil(times(9), update, 5), 1_008 + 480_000);
    assert.equal(futileUntil(times(5_000), update, 5), 5_999 + 3_600_000);
  });

  it('count by scores: a list in many txs, or with many strays, is sent whole before it counts once', () => {
    assert.equal(futileUntil(times(100, { score_count: 10 }), update, 1_000), 0);
    assert.notEqual(futileUntil(times(600, { score_count: 10 }), update, 1_000), 0);
  });

  it('count where they cost something, and for their own list alone', () => {
    for (const state of ['signed', 'replaced'] as const)
      assert.equal(futileUntil(times(50, { state }), update, 5), 0);
    assert.equal(futileUntil(times(50, { list_hash: 'other' }), update, 5), 0);
    assert.equal(futileUntil(times(50), finalize, 0), 0);
    assert.equal(futileUntil(times(6, { purpose: 'finalize' }), finalize, 0), 0, 'a success is no failure');
    const failed = times(6, { purpose: 'finalize', state: 'failed', score_count: 0 });
    assert.equal(futileUntil(failed, finalize, 0), 1_005 + 60_000);
  });
});
