// `npm run test:attack`: the programs under attack by hostile nodes, contracts, clients and L1s, after `npm test`
// has compiled them.
import { compiled, filesOf, mocha } from './mocha.mjs';

/** These measure memory or time, and run one at a time. The others wait for leases, polls and processes. */
const measuring = [
  'clients',
  'comparisons',
  'nft-writer',
  'node',
  'pages',
  'richlist',
  'scoring-l1',
  'tx-writer',
].map((name) => `attack/${name}`);

const run = (files, options = []) => mocha(['--timeout', '240000', ...options, ...files], {});

const given = process.argv.slice(2);
if (given.length > 0) process.exit(run(given));
const others = filesOf('attack', ['writers']).filter((name) => !measuring.includes(name));
process.exit(run(others.map(compiled), ['--parallel', '--jobs', '3']) || run(measuring.map(compiled)));
