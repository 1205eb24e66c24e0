import type { Database } from '../../common/clickhouse/database.js';
import { inParts } from '../../common/clickhouse/literals.js';
import { newestRowsSql } from '../../common/page/view.js';
import { createLru } from '../../common/util/lru.js';
import type { Batch } from './rows.js';
import type { Tables } from './tables.js';

/** How many holders tokens have, as the writer knows it. */
export interface HolderCounts {
  /** The counts after a batch, of the tokens in which it changes. */
  after(batch: Batch): Promise<Map<string, number>>;
  /** Takes over what was written. */
  put(counts: ReadonlyMap<string, number>): void;
  reset(): void;
}

/** Tokens to remember, about 150 bytes each. */
const remembered = 100_000;

/** Opens the counts for writing. */
export function createHolderCounts(database: Database, tables: Tables): HolderCounts {
  const known = createLru<string, number>(remembered);

  const read = async (tokens: readonly string[]): Promise<Map<string, number>> => {
    const rows = await inParts(
      tokens,
      (token) => [token],
      (some) =>
        database.rows<{ token: string; n: number }>(
          newestRowsSql(
            tables.of('holder_counts'),
            ['token', 'holder_count AS n'],
            ['token'],
            'token IN {tokens:Array(String)}',
          ),
          { tokens: some },
          { name: 'richlist.holder_counts', priority: 'write' },
        ),
    );
    return new Map(rows.map(({ token, n }) => [token, n]));
  };

  return {
    async after({ ends }) {
      const moved = new Map<string, number>();
      for (const { token, before, balance } of ends.values()) {
        const by = Number(balance.amount > 0n) - Number(before !== undefined && before.amount > 0n);
        moved.set(token, (moved.get(token) ?? 0) + by);
      }
      const changed = [...moved].filter(([, by]) => by !== 0);
      const missing = changed.map(([token]) => token).filter((token) => !known.has(token));
      const found = missing.length === 0 ? new Map<string, number>() : await read(missing);
      return new Map(changed.map(([token, by]) => [token, (known.get(token) ?? found.get(token) ?? 0) + by]));
    },
    put(counts) {
      for (const [token, count] of counts) known.set(token, count);
    },
    reset: () => known.clear(),
  };
}
