import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { configReference } from '../../tools/config/reference.js';
import { temporaryFolder } from '../support/folder.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

describe('the package', () => {
  it('reports its installs to nobody, though @scarf/scarf comes with swagger-ui-dist', () => {
    assert.deepEqual(JSON.parse(read('package.json')).scarfSettings, { enabled: false });
  });
});

describe('what is generated and committed', () => {
  it('is what the protos generate now', function () {
    this.timeout(60_000);
    const folder = temporaryFolder('gen');
    execFileSync(process.execPath, ['tools/generate.mjs', folder], { cwd: packageRoot, stdio: 'pipe' });
    const committed = join(packageRoot, 'services/common/gen');
    assert.deepEqual(filesBelow(folder), filesBelow(committed));
    for (const file of filesBelow(folder)) {
      assert.ok(
        readFileSync(join(folder, file)).equals(readFileSync(join(committed, file))),
        `${file} is stale: npm run gen`,
      );
    }
  });

  it('has a settings reference that is current', () => {
    assert.equal(read('CONFIGURATION.md'), configReference(), 'run npx --no weft config --write');
  });

  it('has a lock with the packages of every platform', () => {
    const missing = execFileSync(process.execPath, ['tools/lock.mjs'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    assert.equal(missing, '', 'run node tools/lock.mjs --fix');
  });

  it('names no registry in the lock', () => {
    assert.doesNotMatch(read('package-lock.json'), /"resolved"/);
  });

  it('has an executable bin', () => {
    const help = execFileSync(join(packageRoot, 'bin/weft.js'), ['--help'], { encoding: 'utf8' });
    assert.match(help, /weft COMMAND/);
  });
});
