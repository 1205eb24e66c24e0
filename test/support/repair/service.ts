import type { Database } from '../../../services/common/clickhouse/database.js';
import type { Conditions } from '../../../services/common/clickhouse/remove.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import type { ComparedPart, View } from '../../../services/common/writer/views.js';
import type { Questions } from './readers.js';

/** Called between two statements that write. */
export type Fault = (point: string) => void | Promise<void>;

/** A process on tables that have six blocks, of which the last three have replaced what was before. */
export interface Process {
  /** What calls are answered in the process that writes. */
  readonly questions: Questions;
  recover(): Promise<unknown>;
  /** Writes what is missing up to a block. @param onStep called when some of it is whole. */
  write(upTo: number, onStep?: () => Promise<void>): Promise<void>;
  unwind(height: number): Promise<void>;
  compareViews(): AsyncIterable<ComparedPart>;
}

/** A process that only serves. */
export interface Replica {
  readonly questions: Questions;
  /** Looks at how far the tables are, and says so. */
  look(): Promise<string>;
}

/** A service under test. */
export interface Service {
  /** Whether calls wait or are refused during a repair; else they are answered exactly. */
  readonly refuses: boolean;
  /** Questions about views: their answers may show the block that is being written, each part of them by itself. */
  readonly moving: readonly string[];
  readonly views: readonly View[];
  /** What a repair deletes: facts above the head, whose columns are the parameters. */
  readonly above: Conditions<string>;
  open(database: Database, prefix: string, fault: Fault): Promise<Process>;
  replica(database: Database, prefix: string): Promise<Replica>;
  /**
   * The questions of one that remembers nothing from one call to the next. Without looks it is as far as the
   * tables are now for good, like one that is some batches behind. Undefined where answers are exact only at the
   * end of the last batch.
   */
  readonly forgetful?: (database: Database, prefix: string, looks: boolean) => Promise<Questions>;
}

/** What the handlers of each service are made with. */
export const environment = {
  ...{ log: createLog('silent'), metrics: createMetrics(), account_prefix: 'init' },
  stopping: new AbortController().signal,
};

/** How many blocks there are, and how many are left after a rollback. */
export const [top, common] = [6, 3];

/** All of a list. */
export const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };

export const hashOf = (height: number): string => String(height).padStart(64, 'A');
