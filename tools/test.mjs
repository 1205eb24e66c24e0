// `npm test`: compiles everything with its types, lints code and protos, then runs the
// unit, integration and API tests. Arguments go to mocha (`npm test -- -g pages`).
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { testFolder } from './test-folder.mjs';

// What a file that is gone had been compiled to must not run.
rmSync('dist', { recursive: true, force: true });

// Not through npx, which takes options such as -g for its own.
const tool = (name) => `node_modules/.bin/${name}`;

process.env.WEFT_TEST_FOLDER = testFolder();

const steps = [
  ['types', process.execPath, ['tools/build.mjs', 'tsconfig.json']],
  ['lint', tool('biome'), ['check', '.']],
  ['protos', tool('buf'), ['lint']],
  ['tests', tool('mocha'), process.argv.slice(2)],
];

for (const [name, command, args] of steps) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) {
    if (name !== 'tests') console.error(`${name}: failed`);
    process.exit(status ?? 1);
  }
  if (name !== 'tests') console.log(`${name}: ok in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}
