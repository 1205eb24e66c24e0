import { DatabaseUnavailable } from './clickhouse/database.js';
import { TablesBehind } from './clickhouse/migrate.js';
import { sleep } from './lifecycle.js';
import type { Log } from './log.js';

/** How long to wait for a database that does not answer, in milliseconds. */
const databaseWait_ms = 1_000;

export interface WaitOptions {
  readonly log: Log;
  /** Ends the waiting: the failure is thrown then. */
  readonly signal: AbortSignal;
  /** Told what is waited for. */
  readonly onWait: (reason: string) => void;
}

/** Starts a service, and starts it again while its database does not answer or is not migrated yet. */
export async function startOnceReachable<Running>(
  start: () => Promise<Running>,
  { log, signal, onWait }: WaitOptions,
): Promise<Running> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const isWaitedFor = error instanceof DatabaseUnavailable || error instanceof TablesBehind;
      if (!isWaitedFor || signal.aborted) throw error;
      onWait(error.message);
      log.warn(`waiting for the database: ${error.message}`);
      await sleep(databaseWait_ms, signal);
    }
  }
}
