// How a suite is run that is not `npm test`.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { testFolder } from './test-folder.mjs';

/**
 * Runs compiled tests. What they leave behind goes with this process.
 *
 * @param {readonly string[]} args of mocha: options and files.
 * @param {Readonly<Record<string, string>>} env variables of the tests besides the environment of this process.
 * @returns {number} its exit code
 */
export function mocha(args, env) {
  const { status } = spawnSync(
    'node_modules/.bin/mocha',
    ['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit', ...args],
    { stdio: 'inherit', env: { ...process.env, ...env, WEFT_TEST_FOLDER: testFolder() } },
  );
  return status ?? 1;
}

/** The same, and ends the process as they do. */
export const runMocha = (args, env) => process.exit(mocha(args, env));

/**
 * Runs compiled tests several files at a time: they wait for a part of their time, for a node, a process, a retry. Files on
 * the command line are run in place of these.
 *
 * @param {readonly string[]} names of files, as in `integration/block`.
 * @param {Readonly<Record<string, string>>} env variables of the tests besides the environment of this process.
 * @param {number} jobs how many files run at a time.
 */
export function runFiles(names, env, jobs = 4) {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : names.map(compiled);
  runMocha(['--parallel', '--jobs', String(jobs), '--timeout', '240000', ...files], env);
}

/**
 * The file of a test, as in `integration/block`. It has to be there: mocha only warns when one of several is missing.
 *
 * @param {string} name
 * @returns {string}
 */
export function compiled(name) {
  const file = `dist/test/${name}.test.js`;
  if (!existsSync(file)) throw new Error(`there is no test ${name}`);
  return file;
}

/**
 * The compiled tests of a folder, as in `integration/block`.
 *
 * @param {string} folder below `test`.
 * @param {readonly string[]} longest files that come first, so that none of them is left alone at the end.
 * @returns {string[]}
 */
export function filesOf(folder, longest = []) {
  const end = '.test.js';
  const all = readdirSync(`dist/test/${folder}`).filter((name) => name.endsWith(end));
  const names = all.map((name) => name.slice(0, -end.length)).sort();
  const missing = longest.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`there is no test ${missing.join(', ')} in ${folder}`);
  return [...longest, ...names.filter((name) => !longest.includes(name))].map((name) => `${folder}/${name}`);
}
