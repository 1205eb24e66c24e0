import type { Database } from '../../common/clickhouse/database.js';
import { createLook } from '../../common/look.js';
import { readHashes } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import { readTip } from '../store/tip.js';
import type { Head } from './head.js';

/** Makes what keeps a head as the tables have it, where another process writes them: one look. */
export const lookOf = (database: Database, tables: Tables, head: Head): (() => Promise<void>) =>
  createLook({
    head,
    read: () => readTip(database, tables),
    hashes: (from, to) => readHashes(database, tables, from, to),
  });
