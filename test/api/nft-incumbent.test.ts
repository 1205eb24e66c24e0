import assert from 'node:assert/strict';
import { answerOf, readIncumbent } from '../support/incumbent.js';
import { readNftTruth } from '../support/nft-facts.js';
import { compareNftAnswers } from '../support/nft-incumbent.js';
import { readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { startBefore } from '../support/suite.js';

/** Why answers differ, all of which some answer must need. */
const reasons = new Set([
  'errors are JSON',
  'what fails there is answered',
  'NUL is kept',
  'an address with leading zeros is found',
  'keys are our own, and "" where there is none',
  'totals are exact',
  'numbers sort by value, and heights by the last change',
  'another order gives other pages',
  'a collection has the name that its contract says now',
  'owners are who the chain says',
  'a burnt token keeps its txs',
  'values in paths are decoded',
  'addresses keep their leading zeros',
  'the last burn empties a collection',
  'times keep their nanoseconds',
  'a new uri is a change',
  'uris are what the contract says',
]);
const used = new Set<string>();
let compared = 0;

for (const recording of ['evm', 'move', 'wasm'] as const) {
  describe(`what the incumbent answered about NFTs of the ${recording} recording`, () => {
    const truth = readNftTruth(recording);
    const { times } = readChain(recording);
    const recorded = [...readIncumbent(recording)].filter(([path]) => path.startsWith('/indexer/nft/'));
    const stack = startBefore(() => recordedStack(recording));

    for (const [path, theirs] of recorded) {
      it(`${path} is answered alike, or differs for a reason`, async () => {
        const response = await fetch(stack.url + path);
        const ours = answerOf(response.status, await response.text());
        const query = new URLSearchParams(path.split('?')[1] ?? '');
        const open = compareNftAnswers({ path, query, theirs, ours, truth, times }, (reason) => {
          assert.ok(reasons.has(reason), reason);
          used.add(reason);
        });
        compared += 1;
        assert.deepEqual(open, []);
      });
    }
  });
}

describe('the comparison of NFTs with the incumbent', () => {
  it('saw every answer and needed every reason', () => {
    assert.equal(compared, 308);
    assert.deepEqual(
      [...reasons].filter((reason) => !used.has(reason)),
      [],
    );
  });
});
