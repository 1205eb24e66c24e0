import { status } from '@grpc/grpc-js';
import type { Database } from '../../common/clickhouse/database.js';
import type { TableReader } from '../../common/consumer/look.js';
import { defaultPage, type PageBound } from '../../common/page/fit.js';
import type { CallContext } from '../../common/rpc/context.js';
import { RpcError } from '../../common/runtime/errors.js';
import { groupBy } from '../../common/util/chunk.js';
import type { FactFiles } from '../../common/util/fact-files.js';
import type { Head, Position } from '../store/cursor.js';
import type { KnownEnds } from '../store/list-end-cache.js';
import type { Written } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import { type Accounts, createAccounts } from './accounts.js';
import { type BlockRanges, createBlockRanges, rowsOfBlocks } from './block-ranges.js';
import { type Bodies, createBodies } from './bodies.js';
import { createHashes, type Hashes } from './hashes.js';

/** Everything that lists are read with. */
export interface Reader extends TableReader<Tables, Position> {
  readonly bodies: Bodies;
  readonly page: PageBound;
  readonly hashes: Hashes;
  readonly accounts: Accounts;
  readonly blockRanges: BlockRanges;
  /** What is kept on local disk. */
  readonly files: FactFiles;
  /** Answers are made of facts, and of a view that a repair makes readers pass over: see `readListEnds`. */
  readonly isWholeDuringRepair: true;
}

export interface ReaderOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** Memory for bodies, in bytes. */
  readonly cacheBytes: number;
  /** What is kept on local disk. */
  readonly files: FactFiles;
  /** How much a page holds. Default: 8 MiB. */
  readonly page?: PageBound;
  /** How many queries of a kind may run at once. */
  readonly atOnce: number;
  /** Whether this process writes the tables, and tells what it has written. */
  readonly writesToo: boolean;
  /** The ends of account lists as the writer in this process knows them. */
  readonly writtenEnds?: (() => KnownEnds) | undefined;
  /** See `Reader`. */
  readonly look?: (() => Promise<void>) | undefined;
}

/** Opens the tables for reading. */
export function createReader(options: ReaderOptions): Reader {
  const { database, tables, head, page = defaultPage } = options;
  return {
    database,
    tables,
    head,
    bodies: createBodies({ ...options, page }),
    page,
    hashes: createHashes(options),
    accounts: createAccounts(options),
    blockRanges: createBlockRanges(options),
    files: options.files,
    look: options.look,
    isWholeDuringRepair: true,
  };
}

/** Keeps what this process has just written: it is what is asked for first. */
export function takeOver(
  { bodies, hashes, accounts, files }: Reader,
  { hashes: added, blocks, items }: Written,
): void {
  for (const { kind, hash, sequence } of added) hashes.put(kind, hash, sequence);
  files.put(blocks.table, rowsOfBlocks(blocks.rows));
  if (items === undefined) {
    accounts.forget();
    return;
  }
  for (const [kind, entries] of groupBy(items.bodies, ({ kind }) => kind))
    bodies.put(kind, new Map(entries.map(({ sequence, body }) => [sequence, body])));
  for (const [key, end] of items.ends) accounts.put(key, end);
}

/** How long a call waits for a block that another service has already, in milliseconds. */
const patience_ms = 2_000;

/** How much of a call's time is left for its answer, in milliseconds. */
const reserve_ms = 500;

/**
 * Waits a little until a block is indexed: services are rarely more than a moment apart.
 *
 * @throws RpcError UNAVAILABLE when it is not.
 */
export async function indexed(
  head: Head,
  height: number,
  { deadline, signal }: Pick<CallContext, 'deadline' | 'signal'>,
): Promise<void> {
  const end = Math.min(Date.now() + patience_ms, (deadline ?? Number.POSITIVE_INFINITY) - reserve_ms);
  while (head.position.height < height) {
    const left = end - Date.now();
    if (left <= 0 || signal.aborted)
      throw new RpcError(status.UNAVAILABLE, `block ${height} is not indexed yet`);
    await head.bell.heard(head.bell.count, signal, left);
  }
}
