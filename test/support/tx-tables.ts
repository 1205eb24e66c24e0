import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import type { FaultPoint } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { createFactFiles, type FactFiles } from '../../services/common/util/fact-files.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { factsOf } from '../../services/common/writer/head-table.js';
import type { DecodedTx } from '../../services/tx/decode/types.js';
import { createReader, type Reader, takeOver } from '../../services/tx/read/reader.js';
import { createHead, type Head } from '../../services/tx/store/cursor.js';
import type { ResolveStores } from '../../services/tx/store/owners.js';
import { createTxStore, type TxStore } from '../../services/tx/store/store.js';
import { headOf, tablesOf } from '../../services/tx/store/tables.js';
import { testDatabase, uniquePrefix } from './database.js';
import { temporaryFolder } from './folder.js';
import { storeOwner } from './tx-model.js';

/** The tx service's tables with a writer and a reader, as in one process. */
export interface TxTables {
  readonly store: TxStore;
  readonly reader: Reader;
  readonly head: Head;
}

export interface TxTablesOptions {
  readonly cacheBytes?: number;
  /** Default: some of its own, of 1 MiB. */
  readonly files?: FactFiles;
  readonly fault?: FaultPoint;
  readonly endCapacity?: number;
  readonly resolveStores?: ResolveStores;
  readonly onCut?: (tx: DecodedTx) => void;
}

/** Migrates a database of its own for a prefix. */
export async function migrateTx(database: Database, prefix: string): Promise<void> {
  const migrations = readMigrations(join(packageRoot, 'services/tx/schema'));
  await migrate(database, migrations, { database: `${prefix}_tx`, cluster: '' });
}

/** What a process keeps on local disk: one that starts after it finds it there. */
export const factFilesOf = (
  database: Database,
  tables: ReturnType<typeof tablesOf>,
  head: Head,
  process: string,
): FactFiles =>
  createFactFiles({
    ...{
      folder: folderOfFacts(process),
      max_bytes: 1024 * 1024,
      service: 'tx',
      log: createLog('silent'),
      metrics: createMetrics(),
    },
    identity: factsOf(database, headOf(tables), head),
  });

const folder = temporaryFolder('facts');

/** Where a process keeps them. */
export const folderOfFacts = (process: string): string => join(folder, process);

/** Opens migrated tables anew, as a process that starts does: nothing is in memory. */
export function openTx(database: Database, prefix: string, options: TxTablesOptions = {}): TxTables {
  const target = { database: `${prefix}_tx`, cluster: '' };
  const [tables, head] = [tablesOf(target), createHead()];
  const reader: Reader = createReader({
    database,
    tables,
    head,
    files: options.files ?? factFilesOf(database, tables, head, prefix),
    writtenEnds: () => store.ends,
    cacheBytes: options.cacheBytes ?? 1024 * 1024,
    atOnce: 1,
    writesToo: true,
  });
  const store: TxStore = createTxStore({
    database: soleWriter(database),
    target,
    log: createLog('silent'),
    fault: options.fault,
    resolveStores:
      options.resolveStores ??
      (async (stores) => new Map([...storeOwner].filter(([store]) => stores.includes(store)))),
    endCapacity: options.endCapacity ?? 1_000,
    head,
    onWritten: (written) => takeOver(reader, written),
    onCut: options.onCut,
  });
  return { store, reader, head };
}

/** Tables in a database of their own, ready to be written. */
export async function newTx(options: TxTablesOptions = {}): Promise<{ tables: TxTables; prefix: string }> {
  const [database, prefix] = [await testDatabase(), uniquePrefix()];
  await migrateTx(database, prefix);
  const tables = openTx(database, prefix, options);
  await tables.store.recover();
  return { tables, prefix };
}
