import type { Database } from '../../common/clickhouse/database.js';
import type { TableReader } from '../../common/one-chain.js';
import { defaultPage, type PageBound } from '../../common/page/fit.js';
import type { Head, Position } from '../store/cursor.js';
import type { Written } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import { type Accounts, createAccounts } from './accounts.js';
import { type BlockRanges, createBlockRanges } from './block-ranges.js';
import { type Bodies, createBodies } from './bodies.js';
import { createHashes, type Hashes } from './hashes.js';

/** Everything that lists are read with. */
export interface Reader extends TableReader<Tables, Position> {
  readonly bodies: Bodies;
  readonly page: PageBound;
  readonly hashes: Hashes;
  readonly accounts: Accounts;
  readonly blockRanges: BlockRanges;
  /** Answers are made of facts, and of a view that a repair makes readers pass over: see `readListEnds`. */
  readonly isWholeDuringRepair: true;
}

export interface ReaderOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** Memory for bodies, in bytes. */
  readonly cacheBytes: number;
  /** How much a page holds. Default: 8 MiB. */
  readonly page?: PageBound;
  /** How many queries of a kind may run at once. */
  readonly atOnce: number;
  /** Whether this process writes the tables, and tells what it has written. */
  readonly writesToo: boolean;
  /** See `Reader`. */
  readonly look?: (() => Promise<void>) | undefined;
}

/** Memory for 100,000 hashes is about 20 MB. */
const hashesRemembered = 100_000;

/** Opens the tables for reading. */
export function createReader(options: ReaderOptions): Reader {
  const { database, tables, head, atOnce, page = defaultPage } = options;
  return {
    database,
    tables,
    head,
    bodies: createBodies({ ...options, page }),
    page,
    hashes: createHashes({ ...options, remembered: options.writesToo ? hashesRemembered : 0 }),
    accounts: createAccounts(options),
    blockRanges: createBlockRanges(database, tables, atOnce),
    look: options.look,
    isWholeDuringRepair: true,
  };
}

/** Remembers what this process has just written: it is what is asked for first. */
export function takeOver({ bodies, hashes, accounts }: Reader, written: Written | undefined): void {
  if (written === undefined) {
    accounts.forget();
    return;
  }
  for (const { kind, sequence, hash, body } of written.bodies) {
    bodies.put(kind, sequence, body);
    if (kind !== 'internal_tx') hashes.put(kind, hash, { sequence, body_count: 1 });
  }
  for (const [key, end] of written.ends) accounts.put(key, end);
}
