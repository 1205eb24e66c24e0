// `npm run test:kubernetes`: the operator against a real control plane (etcd, API server, controllers). Builds that
// control plane once, with Go, into a folder that outlives it; compiles the project; runs test/kubernetes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from './go/programs.mjs';

/** Builds the control plane unless it is there. @returns the folder of its programs. */
function controlPlane() {
  try {
    return programs['control-plane']();
  } catch (error) {
    console.error(`
kubernetes: NOT TESTED: ${error.message}. Without it there is no control plane. Or put the programs etcd, kube-apiserver
and kube-controller-manager into a folder and name it in KUBEBUILDER_ASSETS.

0 passed, 1 failed, 0 skipped`);
    process.exit(1);
  }
}

const assets = process.env.KUBEBUILDER_ASSETS || controlPlane();
if (process.argv.includes('--build')) process.exit(0);
const compiled = spawnSync(process.execPath, ['tools/build.mjs', 'tsconfig.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'weft-kubernetes-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const { status } = spawnSync(
  'node_modules/.bin/mocha',
  [
    ...['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit'],
    ...['--timeout', '120000', 'dist/test/kubernetes/**/*.test.js'],
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...process.env, WEFT_TEST_FOLDER: folder, KUBEBUILDER_ASSETS: assets } },
);
process.exit(status ?? 1);
