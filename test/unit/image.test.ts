import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { temporaryFolder } from '../support/folder.js';

const run = (script: string, args: readonly string[], epoch = '1700000000'): string =>
  execFileSync(process.execPath, [join(packageRoot, script), ...args], {
    cwd: packageRoot,
    encoding: 'utf8',
    env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

const assemble = (folder: string): string => run('tools/image/assemble.mjs', [folder]);

describe('the image', () => {
  let work: string;
  let first: string;
  let files: string[];

  before(() => {
    work = temporaryFolder('image');
    first = join(work, 'first');
    assemble(first);
    files = readdirSync(first, { recursive: true, encoding: 'utf8' });
  });

  it('has what programs read when they run, and neither sources nor tests', () => {
    for (const needed of [
      'package.json',
      'bin/weft.js',
      'dist/services/gateway/main.js',
      'dist/services/scoring-operator/job.js',
      'dist/tools/main.js',
      'services/block/schema/0001_blocks.sql',
      'services/common/reindex/schema/0001_generations.sql',
      'services/common/gen/descriptors.binpb',
      'services/gateway/page/index.html',
      'services/scoring-operator/program/schema.json',
      'contracts/artifacts/ScoreContract.json',
    ])
      assert.ok(files.includes(needed), needed);
    assert.deepEqual(
      files.filter((name) => /\.tsx?$|tsbuildinfo|(^|\/)test(\/|$)|\.log$/.test(name)),
      [],
    );
  });

  it('is the same, byte for byte, when it is made again later', () => {
    for (const name of files) {
      const path = join(first, name);
      assert.equal(statSync(path).mtimeMs, 1_700_000_000_000, name);
    }
    const second = join(work, 'second');
    assemble(second);
    const now = new Date();
    utimesSync(join(second, 'package.json'), now, now);
    const pack = (folder: string, file: string): string =>
      run('tools/image/archive.mjs', ['weft:test', folder, join(work, file)]);
    assert.equal(pack(first, 'first.tar'), pack(second, 'second.tar'));
    assert.ok(readFileSync(join(work, 'first.tar')).equals(readFileSync(join(work, 'second.tar'))));
  });

  it('can be read by any user, and changed by none but root, whatever the umask', () => {
    const strict = join(work, 'strict');
    const script = `umask 077; exec "${process.execPath}" tools/image/assemble.mjs "${strict}"`;
    execFileSync('sh', ['-c', script], { cwd: packageRoot });
    for (const name of ['', ...files]) {
      const found = statSync(join(strict, name));
      const mode = found.isDirectory() || name === 'bin/weft.js' ? 0o755 : 0o644;
      assert.equal((found.mode & 0o7777).toString(8), mode.toString(8), name);
    }
  });

  it('leaves out what a source that is gone was compiled to', () => {
    const stale = join(packageRoot, 'dist/services/common', `gone-${process.pid}.js`);
    writeFileSync(stale, '');
    try {
      const second = join(work, 'without');
      assemble(second);
      const made = readdirSync(second, { recursive: true, encoding: 'utf8' });
      assert.deepEqual(made.sort(), files.sort());
    } finally {
      rmSync(stale);
    }
  });

  it('is not made over something else', () => {
    assert.throws(() => assemble(first), /is not empty/);
  });
});
