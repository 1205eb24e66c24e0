// `npm run test:kubernetes`: the operator against a real control plane (etcd, API server, controllers). Builds that
// control plane once, with Go, into a folder that outlives it; compiles the project; runs test/kubernetes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

const source = 'test/kubernetes/control-plane';
const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'];

/** The oldest Go that builds it. */
const leastGo = /^go (\d+)\.(\d+)/m.exec(readFileSync(join(source, 'go.mod'), 'utf8'));

/** Path of a Go that is new enough, or undefined. */
function findGo() {
  for (const go of ['go', '/usr/local/go/bin/go', '/usr/lib/go/bin/go']) {
    const { status, stdout } = spawnSync(go, ['env', 'GOVERSION'], {
      encoding: 'utf8',
      env: { ...process.env, GOTOOLCHAIN: 'local' },
    });
    const found = /^go(\d+)\.(\d+)/.exec(stdout ?? '');
    if (status !== 0 || found === null || leastGo === null) continue;
    const [major, minor, leastMajor, leastMinor] = [found[1], found[2], leastGo[1], leastGo[2]].map(Number);
    if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return go;
  }
  return undefined;
}

/** Builds the control plane unless it is there. @returns the folder of its programs. */
function controlPlane() {
  const cache = process.env.WEFT_KUBE_CACHE || join(homedir(), '.cache/weft-kube');
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(source, file)));
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  const binary = join(folder, 'control-plane');
  if (!existsSync(binary)) {
    const go = findGo();
    if (go === undefined) {
      console.error(`
kubernetes: NOT TESTED. There is no Go ${leastGo?.[1]}.${leastGo?.[2]} or later here, and without it there is no control
plane. Install it from https://go.dev/dl, or put the programs etcd, kube-apiserver and kube-controller-manager into a
folder and name it in KUBEBUILDER_ASSETS.

0 passed, 1 failed, 0 skipped`);
      process.exit(1);
    }
    console.log(`kubernetes: building the control plane into ${folder}; that takes ten minutes or so, once`);
    const started = Date.now();
    const version = /k8s\.io\/kubernetes (v\d+\.(\d+)\.\d+)/.exec(
      readFileSync(join(source, 'go.mod'), 'utf8'),
    );
    const stamp = Object.entries({
      gitVersion: version?.[1],
      gitMajor: '1',
      gitMinor: version?.[2],
      gitTreeState: 'clean',
    }).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
    mkdirSync(folder, { recursive: true });
    const unfinished = `${binary}.${process.pid}`;
    const { status } = spawnSync(
      go,
      ['build', '-mod=readonly', '-p', '2', '-ldflags', `-s -w ${stamp.join(' ')}`, '-o', unfinished, '.'],
      {
        cwd: source,
        stdio: 'inherit',
        env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '-trimpath' },
      },
    );
    if (status !== 0) {
      console.error('kubernetes: the control plane could not be built\n\n0 passed, 1 failed, 0 skipped');
      process.exit(1);
    }
    renameSync(unfinished, binary);
    console.log(`kubernetes: built in ${Math.round((Date.now() - started) / 1000)} s`);
  }
  for (const name of names)
    if (!existsSync(join(folder, name))) symlinkSync('control-plane', join(folder, name));
  return folder;
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
