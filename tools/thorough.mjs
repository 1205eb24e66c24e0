// `npm run test:thorough`: what takes minutes, after `npm test` has compiled it: processes
// killed at every point between two writes, random histories of the tables, and whole the
// lists of which `npm test` takes samples.
import { runMocha } from './mocha.mjs';

/** Files of which `npm test` runs a part (test/support/sample.ts). */
const api = ['facts', 'nft-facts', 'clients', 'hostile', 'real-answers'];
const integration = [
  'cut-tables',
  'written-tables',
  'privileges',
  'generated',
  'nft-start',
  'nft-walk',
  'nft-service',
  'richlist-service',
  'richlist-walk',
  'serving',
  'block',
];
const sampled = [...api.map((name) => `api/${name}`), ...integration.map((name) => `integration/${name}`)];

runMocha(
  [
    ...['--parallel', '--jobs', '4', '--timeout', '240000'],
    ...(process.argv.length > 2
      ? process.argv.slice(2)
      : ['thorough/**/*', ...sampled].map((files) => `dist/test/${files}.test.js`)),
  ],
  { WEFT_TEST_THOROUGH: '1' },
);
