import assert from 'node:assert/strict';
import { type MovingList, memoryList, movingPage } from '../../services/common/page/moving.js';

/** A list of numbers that come and go, which counts how often it is read. */
function numbers(from: readonly number[]) {
  const state = { there: [...from], reads: 0 };
  const list: MovingList<number> = {
    name: 'numbers',
    ends: [[0], [1_000]],
    parse: ([part = '']) => [Number(part)],
    positionOf: (n) => [n],
    read(range) {
      state.reads += 1;
      return memoryList(list, async () => state.there).read(range);
    },
    count: async () => state.there.length,
  };
  const page = async (key: string, reverse: boolean, { limit = 3, offset = 0 } = {}) => {
    state.reads = 0;
    const { items, pagination } = await movingPage({ key, reverse, limit, offset, count_total: true }, list);
    return { items, ...pagination, reads: state.reads };
  };
  return { state, page };
}

describe('a page of a list whose items come and go', () => {
  it('is one read, also by key, as long as the neighbour of the key is there', async () => {
    const { page } = numbers([1, 2, 3, 4, 5, 6, 7, 8]);
    const first = await page('', false);
    assert.deepEqual([first.items, first.previous_key, first.total, first.reads], [[1, 2, 3], '', '8', 1]);
    const second = await page(first.next_key, false);
    assert.deepEqual([second.items, second.reads], [[4, 5, 6], 1]);
    const last = await page(second.next_key, false);
    assert.deepEqual([last.items, last.next_key, last.reads], [[7, 8], '', 1]);
    const back = await page(last.previous_key, false);
    assert.deepEqual([back.items, back.reads], [[4, 5, 6], 1]);
    const start = await page(back.previous_key, false);
    assert.deepEqual([start.items, start.previous_key, start.reads], [[1, 2, 3], '', 1]);
    const far = await page('', false, { offset: 6 });
    assert.deepEqual([far.items, far.reads], [[7, 8], 1]);
    assert.deepEqual((await page(far.previous_key, false)).items, [4, 5, 6]);
  });

  for (const reverse of [false, true])
    it(`says whether there are others on its sides, whatever is gone (${reverse ? 'down' : 'up'})`, async () => {
      for (const gone of [[], [1, 2, 3], [3], [4], [4, 5, 6, 7, 8], [5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]]) {
        const all = [1, 2, 3, 4, 5, 6, 7, 8];
        const { state, page } = numbers(reverse ? all.map((n) => 9 - n).sort() : all);
        const place = (n: number): number => (reverse ? 9 - n : n);
        const first = await page('', reverse);
        state.there = state.there.filter((n) => !gone.includes(place(n)));
        const left = all.filter((n) => !gone.includes(n));
        const next = await page(first.next_key, reverse);
        const expected = left.filter((n) => n > 3).slice(0, 3);
        assert.deepEqual(next.items.map(place), expected, `without ${gone}`);
        const [before, after] = [left.some((n) => n <= 3), left.some((n) => n > (expected.at(-1) ?? 3))];
        assert.equal(next.previous_key !== '', before, `before, without ${gone}`);
        assert.equal(next.next_key !== '', after, `after, without ${gone}`);
        if (next.previous_key === '') continue;
        const back = await page(next.previous_key, reverse);
        assert.deepEqual(
          back.items.map(place),
          left.filter((n) => n <= 3).slice(-3),
          `back, without ${gone}`,
        );
        assert.equal(
          back.next_key !== '',
          left.some((n) => n > 3),
          `back, after, without ${gone}`,
        );
      }
    });
});
