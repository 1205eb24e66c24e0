// `npm run test:chart`: the Helm chart, in tiers. T0 lints it, runs the suites of its templates, and checks what is
// rendered against schemas; T1 has a real API server judge every object; T2 installs, upgrades, rolls back and
// uninstalls it in a control plane whose pods only pretend to run. Builds what it needs once, with Go, into a folder
// that outlives it. `--build` does only that; other arguments go to mocha.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from './go/programs.mjs';

const env = { ...process.env };
try {
  for (const name of ['helm', 'helm-unittest', 'helm-docs', 'kubeconform', 'kwok', 'promql'])
    env[`WEFT_${name.replace('-', '_').toUpperCase()}`] = join(programs[name](), name);
  env.KUBEBUILDER_ASSETS = process.env.KUBEBUILDER_ASSETS || programs['control-plane']();
} catch (error) {
  console.error(`\nchart: NOT TESTED: ${error.message}\n\n0 passed, 1 failed, 0 skipped`);
  process.exit(1);
}
if (process.argv.includes('--build')) process.exit(0);
const compiled = spawnSync(process.execPath, ['tools/build.mjs', 'tsconfig.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'weft-chart-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const { status } = spawnSync(
  'node_modules/.bin/mocha',
  [
    ...['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit'],
    ...['--timeout', '180000', 'dist/test/chart/**/*.test.js'],
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...env, WEFT_TEST_FOLDER: folder } },
);
process.exit(status ?? 1);
