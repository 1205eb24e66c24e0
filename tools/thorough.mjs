// `npm run test:thorough`: what takes minutes, after `npm test` has compiled it: processes
// killed at every point between two writes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'weft-tests-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const { status } = spawnSync(
  'node_modules/.bin/mocha',
  ['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit', 'dist/test/thorough/**/*.test.js'],
  { stdio: 'inherit', env: { ...process.env, WEFT_TEST_FOLDER: folder } },
);
process.exit(status ?? 1);
