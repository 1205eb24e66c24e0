import assert from 'node:assert/strict';
import type { Endpoints, NodeError } from '../../services/common/chain/endpoints.js';
import { fetchDecodedTxs } from '../../services/common/chain/rest.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

/** A node that has so many txs of a block, gives at most so many a page, and refuses offsets beyond its count. */
function restOf(count: number, most = 1_000) {
  const asked: string[] = [];
  const rest = fakeEndpoints('rest', ({ path }) => {
    asked.push(path);
    const query = new URL(path, 'http://node').searchParams;
    const offset = Number(query.get('pagination.offset'));
    const limit = Math.min(most, Number(query.get('pagination.limit')));
    if (offset >= count && count > 0) {
      const message = `codespace sdk code 18: invalid request: out of range: cannot paginate ${count} txs with offset ${offset} and limit ${limit}`;
      return [500, { code: 2, message, details: [] }];
    }
    const txs = Array.from({ length: Math.min(limit, count - offset) }, (_, i) => ({ n: offset + i }));
    return [200, { txs, pagination: { next_key: null, total: String(count) } }];
  });
  return { rest, asked };
}

const never = new AbortController().signal;
const numbers = async (rest: Endpoints, expected: number): Promise<number[]> =>
  (await fetchDecodedTxs(rest, 7, expected, never)).map((text) => (JSON.parse(text) as { n: number }).n);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('the decoded txs of a block', () => {
  it('come in one request as a rule, and in pages when there are many', async () => {
    const one = restOf(135);
    assert.deepEqual(await numbers(one.rest, 135), upTo(135));
    assert.equal(one.asked.length, 1);
    const many = restOf(2_001);
    assert.deepEqual(await numbers(many.rest, 2_001), upTo(2_001));
    assert.equal(many.asked.length, 3);
    const small = restOf(250, 100);
    assert.deepEqual(await numbers(small.rest, 250), upTo(250), 'a node with a lower limit');
  });

  for (const [count, expected] of [
    [134, 135],
    [1_000, 1_001],
    [1_999, 2_001],
    [0, 1],
  ] as const) {
    it(`are ${count} where the node counts ${count} of ${expected}`, async () => {
      assert.deepEqual(await numbers(restOf(count).rest, expected), upTo(count));
    });
  }

  it('are an error when the node refuses the first page', async () => {
    const rest = fakeEndpoints('rest', () => [500, '{"code":2, "message":"broken", "details":[]}']);
    await assert.rejects(numbers(rest, 3), (error: NodeError) => error.reason === 'error_answer');
  });
});
