// Builds programs for tests from pinned Go modules, once, into a folder that outlives the tests.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where what is built is kept. */
export const cache = process.env.WEFT_KUBE_CACHE || join(homedir(), '.cache/weft-kube');

/** The oldest Go that builds a module, as its go.mod says. @returns {[number, number]} */
export function leastGo(module) {
  const found = /^go (\d+)\.(\d+)/m.exec(readFileSync(join(module, 'go.mod'), 'utf8'));
  return found === null ? [1, 0] : [Number(found[1]), Number(found[2])];
}

/** Path of a Go that is new enough for a module, or undefined. */
export function findGo(module) {
  const [leastMajor, leastMinor] = leastGo(module);
  for (const go of ['go', '/usr/local/go/bin/go', '/usr/lib/go/bin/go']) {
    const { status, stdout } = spawnSync(go, ['env', 'GOVERSION'], {
      encoding: 'utf8',
      env: { ...process.env, GOTOOLCHAIN: 'local' },
    });
    const found = /^go(\d+)\.(\d+)/.exec(stdout ?? '');
    if (status !== 0 || found === null) continue;
    const [major, minor] = [Number(found[1]), Number(found[2])];
    if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return go;
  }
  return undefined;
}

/** Version of a package that a module requires. */
export function requiredVersion(module, name) {
  const line = readFileSync(join(module, 'go.mod'), 'utf8')
    .split('\n')
    .find((one) =>
      one
        .trim()
        .replace(/^require\s+/, '')
        .startsWith(`${name} v`),
    );
  return line === undefined ? undefined : /v\S+$/.exec(line.replace(/\s*\/\/.*$/, '').trim())?.[0];
}

/**
 * Builds one program unless it is there. The folder is named by what the module says, so that a new version is built
 * beside the old one.
 *
 * @param {{module: string, name: string, target?: string, ldflags?: string}} program target: the package, default the
 *   module's own main
 * @returns {string} the folder of the program
 * @throws Error where there is no Go, or where the build fails
 */
export function buildProgram({ module, name, target = '.', ldflags = '' }) {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) {
    const path = join(module, file);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  const folder = join(cache, hash.digest('hex').slice(0, 16));
  const binary = join(folder, name);
  if (existsSync(binary)) return folder;
  const go = findGo(module);
  if (go === undefined)
    throw new Error(
      `there is no Go ${leastGo(module).join('.')} or later here, which ${name} is built with: https://go.dev/dl`,
    );
  console.log(`${name}: building into ${folder}, once`);
  const started = Date.now();
  mkdirSync(folder, { recursive: true });
  const unfinished = `${binary}.${process.pid}`;
  const { status } = spawnSync(
    go,
    ['build', '-mod=readonly', '-p', '2', '-ldflags', `-s -w ${ldflags}`.trim(), '-o', unfinished, target],
    {
      cwd: module,
      stdio: 'inherit',
      env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '-trimpath' },
    },
  );
  if (status !== 0) throw new Error(`${name} could not be built`);
  renameSync(unfinished, binary);
  console.log(`${name}: built in ${Math.round((Date.now() - started) / 1000)} s`);
  return folder;
}
