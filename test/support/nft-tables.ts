import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import type { FaultPoint } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { FencedDatabase } from '../../services/common/writer/fence.js';
import type { Happening, NftBlock } from '../../services/nft/decode/types.js';
import { answer, refused } from '../../services/nft/enrich/outcome.js';
import { readAsks, readDueJobs } from '../../services/nft/enrich/queue.js';
import { createRangePlanner } from '../../services/nft/enrich/ranges.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { type Task, workOff } from '../../services/nft/enrich/work.js';
import { startReading } from '../../services/nft/read/reader.js';
import { readAsked } from '../../services/nft/store/details.js';
import type { NftStore } from '../../services/nft/store/store.js';
import { endOf } from '../../services/nft/store/token.js';
import { type NftIndex, openNftIndex } from '../../services/nft/tables.js';
import { defaultTextLimits } from '../../services/nft/text-limits.js';
import { testDatabase, uniquePrefix } from './database.js';
import { nameless, owners } from './nft-model.js';

/** The nft service's tables with a writer, as in one process. */
export interface NftTables {
  readonly index: NftIndex;
  readonly store: NftStore;
  /** Asks `source` for everything that is to be asked, until nothing is left. */
  learn(source?: DetailSource): Promise<void>;
}

export interface NftTablesOptions {
  readonly fault?: FaultPoint;
  readonly capacity?: number;
  readonly vm?: 'evm' | 'move' | 'wasm';
  /** Default: one without a fence. Versions then grow within this process alone. */
  readonly writer?: FencedDatabase;
}

const target = (prefix: string) => ({ database: `${prefix}_nft`, cluster: '' });

/** Migrates a database of its own for a prefix. */
export async function migrateNft(database: Database, prefix: string): Promise<void> {
  await migrate(database, readMigrations(join(packageRoot, 'services/nft/schema')), target(prefix));
}

/** A node that names every contract but one, and knows no uris. */
export const modelSource: DetailSource = {
  collections: async (collections) =>
    collections.map((collection) =>
      collection === nameless
        ? refused('no name')
        : answer({ name: `Name ${collection.slice(0, 2)}`, creator: 'f'.repeat(40) }),
    ),
  uris: async (tokens) => tokens.map(() => answer(undefined)),
};

const keeping = { limits: defaultTextLimits, report: () => {} };

/** Opens migrated tables anew, as a process that starts does: nothing is in memory. */
export async function openNft(
  database: Database,
  prefix: string,
  options: NftTablesOptions = {},
): Promise<NftTables> {
  const index = await openNftIndex(database, target(prefix));
  const store = index.openStore(
    {
      vm: options.vm ?? 'wasm',
      log: createLog('silent'),
      fault: options.fault,
      capacity: options.capacity ?? 1_000,
    },
    options.writer,
  );
  const { tables, head } = index;
  const signal = new AbortController().signal;
  const work = async (source: DetailSource, tasks: readonly Task[], areJobs: boolean, asked: number) => {
    const reading = startReading(index.reader, {});
    const ranges = createRangePlanner({ database, tables, now: () => 0, refresh_ms: 0, report: () => {} });
    const common = { database, tables, source, ranges, signal, attempts: 1, now: () => 1, ...keeping };
    const { details } = await workOff(common, tasks, areJobs, reading);
    await store.writeDetails({ ...details, asked }, store.revision);
  };
  return {
    index,
    store,
    async learn(source = modelSource) {
      for (;;) {
        const { at: asked } = await readAsked(database, tables);
        const asks = await readAsks(database, tables, asked, endOf(head.position.height), 50);
        const jobs = asks.length > 0 ? [] : await readDueJobs(database, tables, 1, 50);
        if (asks.length + jobs.length === 0) return;
        await work(source, asks.length > 0 ? asks : jobs, asks.length === 0, asks.at(-1)?.at ?? asked);
      }
    },
  };
}

/** Tables in a database of their own, ready to be written. */
export async function newNft(
  options: NftTablesOptions = {},
  database?: Database,
): Promise<NftTables & { readonly database: Database; readonly prefix: string }> {
  const [engine, prefix] = [database ?? (await testDatabase()), uniquePrefix()];
  await migrateNft(engine, prefix);
  const tables = await openNft(engine, prefix, options);
  await tables.store.recover();
  return { ...tables, database: engine, prefix };
}

/** A block of a chain of such blocks: one tx, in which all of this happens. */
export function nftBlock(height: number, happenings: readonly Happening[], signer = owners[0]!): NftBlock {
  const hashAt = (at: number): string => (at === 0 ? '' : String(at).padStart(64, 'A'));
  const tx = { hash: String(height).padStart(64, '0'), signer };
  return {
    ...{ height, hash: hashAt(height), parent_hash: hashAt(height - 1), problems: [] },
    timestamp: '2026-11-21T09:20:10.1Z',
    events: happenings.map((happening, index) => ({ ...happening, tx, index })),
  };
}
