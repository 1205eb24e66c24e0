// `npm run test:whole`: the lists of which `npm test` takes samples, whole and over all
// recordings, after `npm test` has compiled it.
import { runMocha } from './mocha.mjs';

/** Files of which `npm test` runs a part (test/support/sample.ts). */
const api = ['facts', 'nft-facts', 'clients', 'hostile', 'real-answers'];
const integration = [
  ...['generated', 'nft-start', 'nft-walk', 'nft-service', 'richlist-service', 'richlist-walk'],
  ...['serving', 'block'],
];
const sampled = [...api.map((name) => `api/${name}`), ...integration.map((name) => `integration/${name}`)];

runMocha(
  [
    ...['--parallel', '--jobs', '3', '--timeout', '240000'],
    ...(process.argv.length > 2 ? process.argv.slice(2) : sampled.map((name) => `dist/test/${name}.test.js`)),
  ],
  { WEFT_TEST_THOROUGH: '1' },
);
