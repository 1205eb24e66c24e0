import assert from 'node:assert/strict';
import { type ScoringDevnet, startScoringDevnet } from '../support/attack/scoring-devnet.js';
import { execute, query } from '../support/database.js';

describe('rows of a computed list that are lost', () => {
  let net: ScoringDevnet | undefined;

  afterEach(async () => {
    await net?.stop();
  });

  it('are computed again, and the stage is finalized with the same list', async () => {
    net = await startScoringDevnet('ours', () => {}, { approval: 'Manual', margin_seconds: 5 });
    await net.untilStep('wait ApprovalNeeded');
    const { tables } = net;
    const listOf = async () => {
      const [run] = await query<{ list_hash: string; is_verified: boolean; is_finalized: boolean }>(
        `SELECT list_hash, is_verified, is_finalized FROM ${tables}.runs FINAL WHERE stage = 5`,
      );
      return run!;
    };
    const before = await listOf();
    await execute(`ALTER TABLE ${tables}.scores DELETE WHERE 1`);
    net.approve(5, before.list_hash);
    await net.untilStep('nothing StageRunning');
    assert.deepEqual(await net.finalizations(), [5n]);
    assert.deepEqual(await listOf(), { ...before, is_verified: true, is_finalized: true });
    const [rows] = await query<{ n: number }>(`SELECT count() AS n FROM ${tables}.scores`);
    assert.ok(rows!.n > 0, 'the rows are there again');
  });
});
