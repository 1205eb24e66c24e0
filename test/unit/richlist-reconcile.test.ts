import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { createWriterHealth } from '../../services/common/writer-health.js';
import { type ReconcileOptions, reconcile } from '../../services/richlist/ingest/reconcile.js';

describe('the clock for comparing every holder of tokens that drift', () => {
  const hour_ms = 3_600_000;

  /** Runs a few rounds over tables that say when it was last; whether it was done, and what was written. */
  async function rounds(compared_at: number): Promise<{ isDone: boolean; noted: number[] }> {
    const stopping = new AbortController();
    const noted: number[] = [];
    let [isDone, looks] = [false, 0];
    const answers: Readonly<Record<string, object[]>> = {
      'richlist.drifting_compared': [{ at: compared_at }],
      'richlist.checked': [{ ord: 0 }],
    };
    const database = {
      rows: async (_: string, __: object, { name }: { name: string }) => {
        isDone ||= name === 'richlist.drifting';
        return answers[name] ?? [];
      },
    } as unknown as Database;
    const metrics = createMetrics();
    await reconcile({
      config: { RECONCILE_INTERVAL_MS: 5, RECONCILE_DRIFTING_MS: hour_ms, BALANCE_BATCH: 1 },
      store: {
        position: { height: 10, last_ord: 0, seed_height: 1 },
        revision: 1,
        mend: async () => {},
        noteDrifting: async (at: number) => void noted.push(at),
      },
      database,
      tables: { of: (name: string) => name },
      headHeight: async () => {
        looks += 1;
        if (looks === 4) stopping.abort();
        return 10;
      },
      nameTokens: async () => new Map(),
      log: createLog('silent'),
      metrics,
      health: createWriterHealth({
        service: 'richlist',
        patience_ms: 0,
        onFatal: () => assert.fail(),
        metrics,
      }),
      signal: stopping.signal,
    } as unknown as ReconcileOptions);
    return { isDone, noted };
  }

  it('goes on where it was before a restart', async () => {
    const due = await rounds(Date.now() - 2 * hour_ms);
    assert.equal(due.isDone, true);
    assert.equal(due.noted.length, 1);
    assert.deepEqual(await rounds(Date.now() - hour_ms / 2), { isDone: false, noted: [] });
  });
  it('begins with the first start', async () => {
    const { isDone, noted } = await rounds(0);
    assert.equal(isDone, false);
    assert.equal(noted.length, 1);
  });
  it('is not put off by a clock that was ahead once', async () => {
    assert.deepEqual(await rounds(Date.now() + 1_000 * hour_ms), { isDone: false, noted: [] });
  });
});
