// `npm run test:whole`: the lists of which `npm test` and `npm run test:thorough` take samples,
// whole and over all recordings, after `npm test` has compiled it.
import { runFiles } from './mocha.mjs';

/** Files of which the others run a part (test/support/sample.ts). */
const api = ['facts', 'nft-facts', 'clients', 'hostile', 'real-answers'];
const integration = [
  ...['generated', 'nft-start', 'nft-walk', 'nft-service', 'richlist-service', 'richlist-walk'],
  ...['serving', 'block'],
];
const thorough = [
  'nft-made',
  'nft-store',
  'reindex',
  'reindex-nft',
  'richlist-model',
  'scoring-end-to-end',
  'tx-store',
  'verify',
];
const sampled = [
  ...api.map((name) => `api/${name}`),
  ...integration.map((name) => `integration/${name}`),
  ...thorough.map((name) => `thorough/${name}`),
];

runFiles(sampled, { WEFT_TEST_THOROUGH: '1', WEFT_TEST_WHOLE: '1' });
