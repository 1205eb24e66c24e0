import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';

/*
 * The embedded engine allows one folder per process, so all tests of a mocha process share
 * one; each takes a database name of its own.
 */
let opened: Promise<{ database: Database; folder: string }> | undefined;

/** The engine that all tests of this process share. */
export async function testDatabase(): Promise<Database> {
  opened ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'weft-test-'));
    return { folder, database: await openEmbedded(folder) };
  })();
  return (await opened).database;
}

/** A prefix for databases that nobody else has. */
export const uniquePrefix = (): string => `t${randomBytes(6).toString('hex')}`;

after(async function closeTestDatabase() {
  this.timeout(60_000);
  if (opened === undefined) return;
  const { database, folder } = await opened;
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});
