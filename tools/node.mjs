// `npm run test:node`: the whole chart on a real node, with pods that are containers of this machine. Needs root, and
// of Debian containerd, runc, containernetworking-plugins, nftables, iproute2 and openssl; builds Kubernetes, coredns
// and helm once, with Go, into a folder that outlives it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programs } from './go/programs.mjs';

function build() {
  try {
    return {
      KUBEBUILDER_ASSETS: programs['control-plane'](),
      COREDNS: join(programs.coredns(), 'coredns'),
      PAUSE: join(programs.pause(), 'pause'),
      HELM: join(programs.helm(), 'helm'),
    };
  } catch (error) {
    console.error(`\nnode: NOT TESTED: ${error.message}\n\n0 passed, 1 failed, 0 skipped`);
    process.exit(1);
  }
}

const built = build();
if (process.argv.includes('--build')) process.exit(0);
const compiled = spawnSync(process.execPath, ['tools/build.mjs', 'tsconfig.json'], { stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'weft-node-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const { status } = spawnSync(
  'node_modules/.bin/mocha',
  [
    ...['--no-config', '--reporter', 'dist/test/support/reporter.js', '--exit'],
    ...['--timeout', '300000', 'dist/test/node/**/*.test.js'],
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', env: { ...process.env, WEFT_TEST_FOLDER: folder, ...built } },
);
process.exit(status ?? 1);
