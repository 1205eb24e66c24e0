// `npm run test:thorough`: what takes minutes, after `npm test` has compiled it: processes
// killed at every point between two writes, random histories of the tables, and reads at
// every point of a write and of a cut, of which `npm test` tries some.
import { runFiles } from './mocha.mjs';

const files = ['thorough/**/*', 'integration/cut-tables', 'integration/written-tables'];

runFiles(files, { WEFT_TEST_THOROUGH: '1' });
