import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { type ReconcileOptions, reconcile } from '../../services/richlist/ingest/reconcile.js';

interface Params {
  readonly drifting?: string[];
  readonly after?: string;
  readonly limit?: number;
}

describe('the clock for comparing every holder of tokens that drift', () => {
  const hour_ms = 3_600_000;

  /** Runs a few rounds over tables that say when it was last; whether it was done, and what was written. */
  async function rounds(
    compared_at: number,
    drifting: readonly string[] = [],
  ): Promise<{ isDone: boolean; noted: number[]; compared: string[][] }> {
    const stopping = new AbortController();
    const noted: number[] = [];
    const compared: string[][] = [];
    let [isDone, looks] = [false, 0];
    const answers: Readonly<Record<string, object[]>> = {
      'richlist.drifting_compared': [{ at: compared_at }],
      'richlist.checked': [{ ord: 0 }],
    };
    const database = {
      rows: async (_: string, params: Params, { name }: { name: string }) => {
        if (params.drifting !== undefined) compared.push(params.drifting);
        if (name !== 'richlist.drifting') return answers[name] ?? [];
        isDone = true;
        const { after = '', limit } = params;
        return drifting
          .filter((token) => token > after)
          .slice(0, limit)
          .map((token) => ({ token }));
      },
    } as unknown as Database;
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
      metrics: createMetrics(),
      health: {
        succeeded: () => {},
        failed: (_: string, error: unknown) => assert.fail(String(error)),
      },
      signal: stopping.signal,
    } as unknown as ReconcileOptions);
    return { isDone, noted, compared };
  }

  it('goes on where it was before a restart', async () => {
    const due = await rounds(Date.now() - 2 * hour_ms);
    assert.equal(due.isDone, true);
    assert.equal(due.noted.length, 1);
    assert.deepEqual(await rounds(Date.now() - hour_ms / 2), {
      ...{ isDone: false, noted: [], compared: [] },
    });
  });
  it('begins with the first start', async () => {
    const { isDone, noted } = await rounds(0);
    assert.equal(isDone, false);
    assert.equal(noted.length, 1);
  });
  it('is not put off by a clock that was ahead once', async () => {
    assert.deepEqual(await rounds(Date.now() + 1_000 * hour_ms), {
      ...{ isDone: false, noted: [], compared: [] },
    });
  });
  it('names no more tokens in a statement than a parameter takes', async () => {
    const drifting = Array.from({ length: 5_000 }, (_, n) => n.toString(16).padStart(40, '0'));
    const { compared } = await rounds(Date.now() - 2 * hour_ms, drifting);
    assert.deepEqual(compared.flat(), drifting);
    for (const tokens of compared) assert.ok(JSON.stringify(tokens).length < 128 * 1024);
  });
});
