// `npm run test:thorough`: what takes minutes, after `npm test` has compiled it: processes
// killed at every point between two writes, random histories of the tables, and reads at
// every point of a write and of a cut, of which `npm test` tries some.
import { runMocha } from './mocha.mjs';

const files = ['thorough/**/*', 'integration/cut-tables', 'integration/written-tables'];

runMocha(
  [
    // They wait for a part of their time: for a node, a process, a retry.
    ...['--parallel', '--jobs', '3', '--timeout', '240000'],
    ...(process.argv.length > 2 ? process.argv.slice(2) : files.map((name) => `dist/test/${name}.test.js`)),
  ],
  { WEFT_TEST_THOROUGH: '1' },
);
