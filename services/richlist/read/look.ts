import type { Database } from '../../common/clickhouse/database.js';
import { createLook } from '../../common/look.js';
import { readSeen } from '../../common/writer/head-table.js';
import { readHashes, readPosition } from '../store/cursor.js';
import { headOf, type Tables } from '../store/tables.js';
import type { Head } from './head.js';

/** Makes what keeps a head as the tables have it, where another process writes them: one look. */
export const lookOf = (database: Database, tables: Tables, head: Head): (() => Promise<void>) =>
  createLook({
    head,
    read: () => readSeen(database, headOf(tables), () => readPosition(database, tables)),
    hashes: (from, to) => readHashes(database, tables, from, to),
  });
