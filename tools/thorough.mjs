// `npm run test:thorough`: what takes minutes, after `npm test` has compiled it: processes
// killed at every point between two writes, random histories of the tables, and reads at
// every point of a write and of a repair, of which `npm test` tries some.
import { filesOf, runFiles } from './mocha.mjs';

const longest = ['crash', 'reindex', 'scoring-end-to-end', 'reindex-crash', 'nft-store', 'nft-made'];
const files = ['integration/repair', ...filesOf('thorough', longest)];

runFiles(files, { WEFT_TEST_THOROUGH: '1' });
