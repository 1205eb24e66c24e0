// `npm run test:attack`: the programs under attack by hostile nodes, contracts, clients and L1s, after `npm test`
// has compiled them. Files run one at a time: most of them measure memory or time.
import { runMocha } from './mocha.mjs';

const given = process.argv.slice(2);
runMocha(['--timeout', '240000', ...(given.length > 0 ? given : ['dist/test/attack/**/*.test.js'])], {});
