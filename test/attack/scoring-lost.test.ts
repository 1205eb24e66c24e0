import assert from 'node:assert/strict';
import { type ScoringDevnet, startScoringDevnet } from '../support/attack/scoring-devnet.js';

describe('rows of a computed list that are lost', () => {
  let net: ScoringDevnet | undefined;

  afterEach(async () => {
    await net?.stop();
  });

  it('are computed again, and the stage is finalized with the same list', async () => {
    net = await startScoringDevnet('ours', () => {}, { approval: 'Manual', margin_seconds: 5 });
    await net.untilStep('wait ApprovalNeeded');
    const { database, tables } = net;
    const listOf = async () => {
      const [run] = await database.rows<{ list_hash: string; is_verified: boolean; is_finalized: boolean }>(
        `SELECT list_hash, is_verified, is_finalized FROM ${tables}.runs FINAL WHERE stage = 5`,
        {},
        { name: 'test' },
      );
      return run!;
    };
    const before = await listOf();
    await database.command(`ALTER TABLE ${tables}.scores DELETE WHERE 1`, {}, { name: 'test' });
    net.approve(5, before.list_hash);
    await net.untilStep('nothing StageRunning');
    assert.deepEqual(await net.finalizations(), [5n]);
    assert.deepEqual(await listOf(), { ...before, is_verified: true, is_finalized: true });
    const [rows] = await database.rows<{ n: number }>(
      `SELECT count() AS n FROM ${tables}.scores`,
      {},
      { name: 'test' },
    );
    assert.ok(rows!.n > 0, 'the rows are there again');
  });
});
