import assert from 'node:assert/strict';
import { createAskRest } from '../../services/nft/enrich/source.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

/** A node that answers as told; notes at which heights it was asked. */
function node(answer: (height: number, asked: number) => readonly [status: number, body: object]) {
  const heights: number[] = [];
  const rest = fakeEndpoints('rest', ({ headers }) => {
    const height = Number(headers?.['x-cosmos-block-height'] ?? 0);
    heights.push(height);
    return answer(height, heights.length);
  });
  return { ask: createAskRest(rest), heights };
}

const { signal } = new AbortController();
const error = (message: string) => [500, { code: 2, message, details: [] }] as const;
const future = 'codespace sdk code 26: invalid height: cannot query with height in the future';
const pruned = 'failed to load state at height 7; version does not exist (latest height: 900)';

describe('NFT details: what REST says of a block', () => {
  it('is asked of the state after it, and again of a node that is behind', async () => {
    const { ask, heights } = node((_, asked) => (asked < 3 ? error(future) : [200, { data: 1 }]));
    assert.deepEqual(await ask('/x', 7, signal), { is: 'answer', value: { data: 1 } });
    assert.deepEqual(heights, [7, 7, 7]);
  });

  it('is nothing while every node is behind: no refusal, which would be given up some day', async () => {
    const { ask } = node(() => error(future));
    assert.equal((await ask('/x', 7, signal)).is, 'unreached');
  });

  it('is the latest where the state is gone, which is remembered for all that is older', async () => {
    const { ask, heights } = node((height) =>
      height > 0 && height < 9 ? error(pruned) : [200, { data: 1 }],
    );
    for (const height of [7, 7, 5, 9, 8]) assert.equal((await ask('/x', height, signal)).is, 'answer');
    assert.deepEqual(heights, [7, 0, 0, 0, 9, 8, 0]);
  });

  it('is the contract that speaks where it says so, whatever it claims of heights', async () => {
    for (const claim of [future, pruned]) {
      const { ask, heights } = node(() => error(`${claim}: query wasm contract failed`));
      assert.equal((await ask('/x', 7, signal)).is, 'refused');
      assert.deepEqual(heights, [7]);
    }
  });
});
