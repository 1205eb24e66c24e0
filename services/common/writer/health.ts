import { NodeError } from '../chain/endpoints.js';
import { codeOf, DatabaseUnavailable } from '../clickhouse/database.js';
import {
  AccessDenied,
  FatalError,
  messageOf,
  RpcError,
  TryAgainError,
  UserError,
} from '../runtime/errors.js';
import type { OnFatal } from '../runtime/lifecycle.js';
import type { Metrics } from '../runtime/metrics.js';

/*
 * A writer tries again whatever fails. Three kinds of failures differ in what helps:
 *
 * 1. The node, or another service, fails. The writer waits. What is in the tables can be served,
 *    so the process stays ready.
 * 2. The database is away, full, or refuses the account. The writer waits here as well: somebody
 *    has to mend that, and a restart mends nothing. The process is not ready.
 * 3. Anything else, such as a part of a table that was damaged when the disk was full. The process is
 *    not ready. After WRITER_PATIENCE_MS it ends with 75, since a process that ends is seen by its
 *    supervisor. The engine puts damaged parts aside when it starts. For one that a merge has made it
 *    takes those that were merged, while it still has them: for eight minutes. So patience is shorter.
 */

/** Whether the parts of a service that write its tables can do so. */
export interface WriterHealth {
  /** Notes that a part (`writing blocks`) has written, or has found that it has nothing to write. */
  succeeded(part: string): void;
  /** Notes that it has failed and tries again. A FatalError ends the process at once. */
  failed(part: string, error: unknown): void;
  /** Why the tables cannot be written now; '' while they can. */
  reason(): string;
}

export interface WriterHealthOptions {
  /** The service's name in metrics. */
  readonly service: string;
  /** How long a part may fail in a row; 0 for any time. */
  readonly patience_ms: number;
  readonly onFatal: OnFatal;
  readonly metrics: Metrics;
  /** Milliseconds of any clock that only goes forward. */
  readonly now?: () => number;
}

/** Failures in a row of one part. */
interface Row {
  readonly since: number;
  /** Since when every failure is one that no waiting mends. */
  hopeless_since: number | undefined;
  last: number;
  message: string;
}

/** A part that has failed for so long is told of, in milliseconds: shorter failures are ordinary. */
const told_ms = 5_000;

/** A part that has not failed for so long does well, though it had nothing to write; longer than any wait between attempts. */
const quiet_ms = 60_000;

/** So much is told of an error: the engine's name every file and step. */
const messageLength = 300;

/** Watches over what writes the tables of a service. */
export function createWriterHealth(options: WriterHealthOptions): WriterHealth {
  const { service, patience_ms, onFatal, metrics, now = () => performance.now() } = options;
  const rows = new Map<string, Row>();

  return {
    succeeded: (part) => {
      rows.delete(part);
    },
    failed(part, error) {
      if (error instanceof FatalError) return onFatal(error);
      if (isOutside(error)) return;
      const time = now();
      for (const [name, { last }] of rows) if (time - last > quiet_ms) rows.delete(name);
      const before = rows.get(part);
      const row: Row = before ?? { since: time, hopeless_since: undefined, last: time, message: '' };
      row.last = time;
      row.message = messageOf(error).slice(0, messageLength);
      row.hopeless_since = canWait(error) ? undefined : (row.hopeless_since ?? time);
      rows.set(part, row);
      if (patience_ms === 0 || row.hopeless_since === undefined) return;
      const failing_ms = time - row.hopeless_since;
      if (failing_ms < patience_ms) return;
      metrics.limits.inc({ service, limit: 'WRITER_PATIENCE_MS' });
      const cause = new FatalError(
        `${service}: ${part} has failed for ${seconds(failing_ms)} s, longer than WRITER_PATIENCE_MS allows: ${row.message}`,
        { cause: error },
      );
      onFatal(cause);
    },
    reason() {
      const time = now();
      for (const [part, { since, last, message }] of rows)
        if (time - last <= quiet_ms && time - since >= told_ms)
          return `${part} has failed for ${seconds(time - since)} s: ${message}`;
      return '';
    },
  };
}

/** The health of a service as far as tables matter to it that may not be in use yet: those fail without harm. */
export const onlyInUse = (health: WriterHealth, isInUse: () => boolean): WriterHealth => ({
  ...health,
  failed(part, error) {
    if (isInUse() || error instanceof FatalError) health.failed(part, error);
  },
});

const seconds = (ms: number): number => Math.round(ms / 1_000);

/** Whether something other than the database has failed, or a person has to mend it. */
const isOutside = (error: unknown): boolean =>
  [NodeError, RpcError, TryAgainError, UserError].some((kind) => error instanceof kind);

/** ClickHouse's error code for a disk without room, and what it says where it has no code for that. */
const [notEnoughSpace, diskFull] = ['243', /no space left on device|disk quota exceeded|errno: (28|122)\b/i];

/** Whether the database may work again without a restart of this process. */
const canWait = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable ||
  error instanceof AccessDenied ||
  codeOf(error) === notEnoughSpace ||
  diskFull.test(messageOf(error));
