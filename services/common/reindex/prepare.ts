import type { Database } from '../clickhouse/database.js';
import { migrate, type Target } from '../clickhouse/migrate.js';
import type { FaultPoint } from '../fault.js';
import { copyTable, countRows } from './copy.js';
import { dropGeneration } from './drop.js';
import { targetOf } from './generations.js';
import type { CopyPlan, GenerationTables, RebuildableService } from './tables.js';

export interface PrepareOptions {
  /** Slowed down. */
  readonly database: Database;
  readonly service: Pick<RebuildableService<GenerationTables>, 'base' | 'migrations'>;
  /** The tables in use, and where they are. */
  readonly source: GenerationTables;
  readonly source_target: Target;
  readonly generation: number;
  /** First height that is built from blocks. */
  readonly from_height: number;
  readonly signal: AbortSignal;
  readonly fault: FaultPoint;
  /** Told how many rows are copied, of how many. */
  readonly onProgress: (copied: number, of: number) => void;
}

/**
 * Makes the tables of a generation, with what lies below its first height. Whatever stops it,
 * it begins anew: what a copy has so far is of no use when its source may have changed since.
 */
export async function prepareGeneration(options: PrepareOptions): Promise<void> {
  const { database, service, source, generation, from_height, fault } = options;
  const target = targetOf(service.base, generation);
  for (;;) {
    await dropGeneration(database, service.base, generation, fault);
    await migrate(database, service.migrations, target);
    await fault('reindex tables made');
    if (from_height <= 1) return;
    const { revision } = source;
    const plan = await source.planCopy?.(from_height - 1);
    if (plan === undefined) throw new Error('these tables can only be rebuilt from the first block');
    await (plan.holds ? source.hold(() => copyAll(options, plan, target)) : copyAll(options, plan, target));
    options.signal.throwIfAborted();
    // Rolled back meanwhile: nobody knows which part of the copy was read before.
    if (source.revision === revision) return;
  }
}

async function copyAll(options: PrepareOptions, { tables }: CopyPlan, target: Target): Promise<void> {
  const { database, source_target, signal, fault, onProgress } = options;
  const counts: number[] = [];
  for (const copy of tables) counts.push(await countRows(database, source_target, copy));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let before = 0;
  onProgress(0, total);
  for (const [index, copy] of tables.entries()) {
    const count = counts[index] ?? 0;
    await copyTable(database, source_target, target, copy, async (rows) => {
      signal.throwIfAborted();
      onProgress(before + Math.min(rows, count), total);
      await fault('reindex copy');
    });
    before += count;
  }
}
