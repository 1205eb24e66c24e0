import { randomBytes } from 'node:crypto';
import type { Database } from '../../services/common/clickhouse/database.js';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { temporaryFolder } from './folder.js';

/*
 * The embedded engine allows one folder per process, so all tests of a mocha process share
 * one; each takes a database name of its own. It stays open until the process ends, since
 * nobody knows which file of a worker is the last; `npm test` removes the folders.
 */
let opened: Promise<Database> | undefined;

/** The engine that all tests of this process share. */
export function testDatabase(): Promise<Database> {
  opened ??= openEmbedded(temporaryFolder('test'));
  return opened;
}

/** A prefix for databases that nobody else has. */
export const uniquePrefix = (): string => `t${randomBytes(6).toString('hex')}`;

/** Rows of the engine that tests share. */
export const query = async <Row>(sql: string): Promise<Row[]> =>
  (await testDatabase()).rows<Row>(sql, {}, { name: 'test' });

/** Runs a statement in it. */
export const execute = async (sql: string): Promise<void> =>
  (await testDatabase()).command(sql, {}, { name: 'test' });
