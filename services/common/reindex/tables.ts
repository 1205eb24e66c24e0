import type { Database } from '../clickhouse/database.js';
import type { Migration, Target } from '../clickhouse/migrate.js';
import type { Cursor } from '../consume.js';
import type { FencedDatabase } from '../writer/fence.js';
import type { ComparedPart } from '../writer/views.js';

/*
 * What a service gives so that its tables can be rebuilt. To make a service rebuildable:
 *
 * 1. Put everything that is opened on one set of its tables (store, head, caches, readers) into
 *    one value that implements `GenerationTables`, and a function that opens it.
 * 2. Give that function to `startConsumer` in `main.ts`: it calls `openGenerations` where others
 *    call `migrate`, and serves `reindexService(...)` beside the service.
 * 3. Let the handlers take `current()` once at the beginning of each call; the stream of heads
 *    takes it anew in each turn.
 * 4. Name the service in `tools/reindex/services.ts`.
 */

/** How far a generation is. */
export interface Tip extends Cursor {
  /** Last heights of tracks that lag behind the blocks, by name. */
  readonly tracks: Readonly<Record<string, number>>;
}

/** Everything that a service has opened on one generation of its tables. */
export interface GenerationTables {
  /** The last block that is whole; height 0 and hash '' while there is none. */
  readonly tip: Tip;
  /** Of the head that is shown: changes when answers about the past may have changed. */
  readonly revision: number;
  /** Moves the revision above another one, so that a change of generation is noticed. */
  reviseAbove(revision: number): void;
  /** Wakes those who wait for the head, so that they look which generation is in use. */
  ring(): void;
  /** Takes over what other processes have written, where this one does not ingest. */
  look(): Promise<void>;
  /** Follows the block service and writes, until the signal that it was opened with. */
  ingest(): Promise<void>;
  /** Runs something while nothing is written to these tables. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Compares the views with what the facts give, a part at a time; to be advanced while nothing is written. Views of tables
   * that are being repaired differ.
   */
  compareViews(): AsyncGenerator<ComparedPart, void, undefined>;
  /** The blocks between two heights, inclusive. */
  hashes(from: number, to: number): Promise<readonly Cursor[]>;
}

/** What a generation is opened with. */
export interface OpenOptions<Tables = GenerationTables> {
  readonly target: Target;
  /** For the answers to calls. */
  readonly database: Database;
  /** For everything that ingesting needs: slowed down while these tables are being rebuilt. */
  readonly writer: FencedDatabase;
  /** Whether calls are answered from these tables. */
  readonly isInUse: () => boolean;
  /** The tables that calls are answered from: these, or those beside which these are rebuilt. */
  readonly inUse: () => Tables;
  /** Ends the work on these tables. */
  readonly signal: AbortSignal;
}

/** A service whose tables can be rebuilt. */
export interface RebuildableService<Tables extends GenerationTables> {
  /** Its name in logs and metrics. */
  readonly name: string;
  /** Its first database. */
  readonly base: Target;
  /** Of one generation. */
  readonly migrations: readonly Migration[];
  /** Opens migrated tables; nothing is written before `ingest`. */
  readonly open: (options: OpenOptions<Tables>) => Tables;
}

/** Whether tables have every block that a tip says, and not another one in its place. */
export async function includes(tables: GenerationTables, tip: Tip): Promise<boolean> {
  if (!isNear(tables.tip, tip, 0)) return false;
  if (tip.height === 0) return true;
  const [block] = await tables.hashes(tip.height, tip.height);
  return block?.hash === tip.hash;
}

/** Whether a tip is at most so many blocks behind another, on every track. */
export function isNear(tip: Tip, other: Tip, blocks: number): boolean {
  return (
    tip.height + blocks >= other.height &&
    Object.entries(other.tracks).every(([name, height]) => (tip.tracks[name] ?? 0) + blocks >= height)
  );
}
