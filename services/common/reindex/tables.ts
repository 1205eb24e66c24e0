import type { Database } from '../clickhouse/database.js';
import type { Migration, Target } from '../clickhouse/migrate.js';
import type { Cursor } from '../consumer/consume.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import type { FencedDatabase } from '../writer/fence.js';
import type { Head } from '../writer/head.js';
import type { TableStore } from '../writer/table-writer.js';

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
  /** How far calls may read them. */
  readonly head: Head<Cursor>;
  /** The tables as their writer sees them. */
  readonly store: Pick<TableStore<Cursor>, 'hold' | 'compareViews' | 'hashes'>;
  /** Last heights of tracks that lag behind the blocks, by name. */
  tracks(): Tip['tracks'];
  /** Takes over what other processes have written, where this one does not ingest. */
  look(): Promise<void>;
  /** Follows the block service and writes, until the signal that it was opened with. */
  ingest(): Promise<void>;
}

/** The last block of tables that is whole; height 0 and hash '' while there is none. */
export function tipOf({ head, tracks }: GenerationTables): Tip {
  const { height, hash } = head.position;
  return { height, hash, tracks: tracks() };
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

/** What the tables of a service are followed, written and rebuilt with. */
export interface ReindexEnvironment<Tables extends GenerationTables> {
  readonly service: RebuildableService<Tables>;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The share of time that the statements of a rebuild may take, in percent. */
  readonly percent: number;
  /** Ends all work. */
  readonly signal: AbortSignal;
}

/** Whether tables have every block that a tip says, and not another one in its place. */
export async function includes(tables: GenerationTables, tip: Tip): Promise<boolean> {
  if (!isNear(tipOf(tables), tip, 0)) return false;
  if (tip.height === 0) return true;
  const [block] = await tables.store.hashes(tip.height, tip.height);
  return block?.hash === tip.hash;
}

/** Whether a tip is at most so many blocks behind another, on every track. */
export function isNear(tip: Tip, other: Tip, blocks: number): boolean {
  return (
    tip.height + blocks >= other.height &&
    Object.entries(other.tracks).every(([name, height]) => (tip.tracks[name] ?? 0) + blocks >= height)
  );
}
