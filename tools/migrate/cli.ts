import { parseArgs } from 'node:util';
import { DatabaseUnavailable } from '../../services/common/clickhouse/database.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { TryAgainError } from '../../services/common/runtime/errors.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { migrateAll } from './migrate.js';
import { migrateSettings } from './settings.js';

const usage = `weft migrate: brings the tables of every service up to date, and ends

Services that are started with MIGRATIONS=check wait for it. It can be run again at any time,
and while services of the version before are running. CONFIGURATION.md lists its settings.
`;

/** Between two attempts to reach the database, in milliseconds. */
const pause_ms = 2_000;

/** `weft migrate`. */
export async function runMigrate(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const config = loadSettings(migrateSettings, process.env);
  const end = Date.now() + config.MIGRATE_WAIT_SECONDS * 1_000;
  const database = await openDatabase(config);
  try {
    for (;;) {
      try {
        for await (const { database: name, ran } of migrateAll(database, config))
          process.stdout.write(`${name}: ${ran.length === 0 ? 'is up to date' : `ran ${ran.join(', ')}`}\n`);
        return;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error;
        if (Date.now() + pause_ms > end) throw new TryAgainError(error.message, { cause: error });
        process.stderr.write(`waiting for the database: ${error.message}\n`);
        await sleep(pause_ms);
      }
    }
  } finally {
    await database.close();
  }
}
