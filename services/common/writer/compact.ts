import type { TableNames } from '../clickhouse/database.js';
import { AccessDenied, messageOf } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import type { FencedDatabase } from './fence.js';

/*
 * Reading a view passes over its deleted rows, and a merge keeps the newest row of a key also where that one is deleted. So a
 * list whose places change all the time would become slower and slower. With CLEANUP a merge of the whole table drops them;
 * what is read before, while and after it is the same. It takes about 0.7 s for a million rows.
 */

/** Rows of a view that are deleted, and their share of all, from which on it is worth to write it again without them. */
const [defaultFewest, leastShare] = [20_000, 0.2];

/** Batches between two looks. */
const defaultBatches = 50;

export interface CompactorOptions<Name extends string> {
  readonly database: FencedDatabase;
  readonly tables: TableNames<Name>;
  /** Views from which rows are deleted. */
  readonly views: readonly Name[];
  /** Of the statements in metrics: the service. */
  readonly name: string;
  readonly log: Log;
  /** Batches between two looks, and the fewest deleted rows that are dropped. */
  readonly batches?: number | undefined;
  readonly fewest?: number | undefined;
}

/**
 * Makes what keeps views free of deleted rows, to be called when a batch is written and nothing else writes. It goes without
 * where the account of ClickHouse may not do it.
 */
export function createCompactor<Name extends string>(options: CompactorOptions<Name>): () => Promise<void> {
  const { database, tables, views, name, log, batches = defaultBatches, fewest = defaultFewest } = options;
  const statement = { name: `${name}.compact_view`, priority: 'write' as const };
  let left = batches;
  let isRefused = false;

  const compact = async (view: Name): Promise<void> => {
    const [row] = await database.rows<{ n: number; deleted: number }>(
      `SELECT count() AS n, countIf(v.is_deleted = 1) AS deleted FROM ${tables.of(view)} AS v`,
      {},
      statement,
    );
    if (row === undefined || row.deleted < Math.max(fewest, leastShare * row.n)) return;
    await database.confirm();
    await database.command(`OPTIMIZE TABLE ${tables.removable(view)} FINAL CLEANUP`, {}, statement);
  };

  return async () => {
    left -= 1;
    if (isRefused || left > 0) return;
    left = batches;
    try {
      for (const view of views) await compact(view);
    } catch (error) {
      if (!(error instanceof AccessDenied)) throw error;
      isRefused = true;
      log.warn(
        `deleted rows stay in ${views.join(', ')}, and lists become slower: grant OPTIMIZE on these tables, then start again: ${messageOf(error)}`,
      );
    }
  };
}
