// Suites of tests that need something built first, which outlives them.
import { spawnSync } from 'node:child_process';
import { runMocha } from './mocha.mjs';

/**
 * Builds what a suite needs, compiles the project and runs the suite, with the arguments of the command line;
 * `--build` does only the first. Ends the process. What cannot be built is a failure: nothing is left out silently.
 *
 * @param {{name: string, timeout_ms: number, jobs?: number, build: () => Record<string, string>, hint?: string}} suite
 *   name: the folder of its tests; timeout_ms: of a test; jobs: files that run at a time, each with a control plane of its
 *   own; build: returns where what was built is, as variables of the environment; hint: what else could be done where it
 *   cannot be built
 */
export function runSuite({ name, timeout_ms, jobs = 1, build, hint = '' }) {
  const built = buildOrEnd(name, build, hint);
  if (process.argv.includes('--build')) process.exit(0);
  const compiled = spawnSync(process.execPath, ['tools/build.mjs', 'tsconfig.json'], { stdio: 'inherit' });
  if (compiled.status !== 0) process.exit(compiled.status ?? 1);
  const files = `dist/test/${name}/**/*.test.js`;
  const parallel = jobs > 1 ? ['--parallel', '--jobs', String(jobs)] : [];
  runMocha(['--timeout', String(timeout_ms), ...parallel, files, ...process.argv.slice(2)], built);
}

function buildOrEnd(name, build, hint) {
  try {
    return build();
  } catch (error) {
    console.error(`\n${name}: NOT TESTED: ${error.message}${hint}\n\n0 passed, 1 failed, 0 skipped`);
    return process.exit(1);
  }
}
