import type { Database } from '../clickhouse/database.js';
import { sleep } from '../lifecycle.js';

/** A database whose statements take a share of the time at most. */
export interface PacedDatabase {
  readonly database: Database;
  /** From now on nothing is slowed down. */
  release(): void;
}

/**
 * Slows a writer down: after a statement that took t it rests until t is `percent` of the
 * time that has passed. Whoever catches up by it leaves the engine, and through backpressure
 * the processor, to others for the rest.
 *
 * @param percent 1 to 100; 100 does not slow anything down.
 */
export function paced(database: Database, percent: number, signal: AbortSignal): PacedDatabase {
  let released = percent >= 100;
  const resting = async <T>(work: () => Promise<T>): Promise<T> => {
    if (released) return work();
    const began = performance.now();
    const result = await work();
    if (!released) await sleep(((performance.now() - began) * (100 - percent)) / percent, signal);
    return result;
  };
  return {
    database: {
      command: (sql, params, options) => resting(() => database.command(sql, params, options)),
      rows: <T>(sql: string, params: Readonly<Record<string, unknown>>, options: Parameters<Database['rows']>[2]) =>
        resting(() => database.rows<T>(sql, params, options)),
      bytes: (sql, format, params, options) => resting(() => database.bytes(sql, format, params, options)),
      insert: (table, lines, options) => resting(() => database.insert(table, lines, options)),
      close: () => database.close(),
    },
    release() {
      released = true;
    },
  };
}
