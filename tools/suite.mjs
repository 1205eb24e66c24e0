// Suites of tests that need something built first, which outlives them.
import { spawnSync } from 'node:child_process';
import { compiled, filesOf, runMocha } from './mocha.mjs';

/**
 * Builds what a suite needs, compiles the project and runs the suite, with the arguments of the command line;
 * `--build` does only the first. Ends the process. What cannot be built is a failure: nothing is left out silently.
 *
 * @param {object} suite
 * @param {string} suite.name the folder of its tests.
 * @param {number} suite.timeout_ms of a test.
 * @param {number} [suite.jobs] how many files run at a time, each with its control plane.
 * @param {readonly string[]} [suite.longest] tests that come first.
 * @param {() => Record<string, string>} suite.build returns where what was built is, as variables of the environment.
 * @param {string} [suite.hint] what else could be done where it cannot be built.
 */
export function runSuite({ name, timeout_ms, jobs = 1, longest = [], build, hint = '' }) {
  const built = buildOrEnd(name, build, hint);
  if (process.argv.includes('--build')) process.exit(0);
  const { status } = spawnSync(process.execPath, ['tools/build.mjs', 'tsconfig.json'], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  const files = filesOf(name, longest).map(compiled);
  const parallel = jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : [];
  runMocha(['--timeout', String(timeout_ms), ...parallel, ...files, ...process.argv.slice(2)], built);
}

function buildOrEnd(name, build, hint) {
  try {
    return build();
  } catch (error) {
    console.error(`\n${name}: NOT TESTED: ${error.message}${hint}\n\n0 passed, 1 failed, 0 skipped`);
    return process.exit(1);
  }
}
