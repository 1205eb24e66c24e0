// How a suite is run that is not `npm test`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs compiled tests, and ends the process as they do. What they leave behind goes with it.
 *
 * @param {readonly string[]} args of mocha: options and files.
 * @param {Readonly<Record<string, string>>} env what the tests are told besides the environment of this process.
 */
export function runMocha(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'weft-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { status } = spawnSync(
    'node_modules/.bin/mocha',
    ['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit', ...args],
    { stdio: 'inherit', env: { ...process.env, ...env, WEFT_TEST_FOLDER: folder } },
  );
  process.exit(status ?? 1);
}

/**
 * Runs compiled tests three files at a time: they wait for a part of their time, for a node, a process, a retry. Files on
 * the command line are run in place of these.
 *
 * @param {readonly string[]} names of files, as in `integration/block`; may be patterns.
 * @param {Readonly<Record<string, string>>} env what the tests are told besides the environment of this process.
 */
export function runFiles(names, env) {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : names.map((name) => `dist/test/${name}.test.js`);
  runMocha(['--parallel', '--jobs', '3', '--timeout', '240000', ...files], env);
}
