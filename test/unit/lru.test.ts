import assert from 'node:assert/strict';
import { createLru } from '../../services/common/util/lru.js';
import { randomFrom } from '../support/random.js';

describe('a cache that takes memory as it fills', () => {
  it('holds what was used last, and tells what had to go', () => {
    const random = randomFrom(7);
    const gone: string[] = [];
    const cache = createLru<string, number>(5, {
      dispose: (value, key, reason) => {
        if (reason === 'evict') gone.push(`${key}=${value}`);
      },
    });
    // The model: keys by their last use.
    let used: string[] = [];
    const values = new Map<string, number>();
    const expectedGone: string[] = [];
    for (let step = 0; step < 2_000; step++) {
      const key = `k${random.integer(12)}`;
      if (random.oneIn(9)) {
        cache.delete(key);
        used = used.filter((other) => other !== key);
      } else if (random.oneIn(3)) {
        assert.equal(cache.get(key), used.includes(key) ? values.get(key) : undefined);
        if (used.includes(key)) used = [...used.filter((other) => other !== key), key];
      } else {
        cache.set(key, step);
        values.set(key, step);
        used = [...used.filter((other) => other !== key), key];
        if (used.length > 5) {
          const oldest = used.shift() as string;
          expectedGone.push(`${oldest}=${values.get(oldest)}`);
        }
      }
      assert.deepEqual([...cache.keys()].reverse(), used);
    }
    assert.deepEqual(gone, expectedGone);
    assert.ok(gone.length > 100);
    cache.clear();
    assert.equal(cache.size, 0);
    cache.set('a', 1);
    assert.equal(cache.get('a'), 1);
  });

  it('holds one at least', () => {
    const cache = createLru<string, number>(0);
    cache.set('a', 1).set('b', 2);
    assert.deepEqual([...cache.entries()], [['b', 2]]);
  });

  it('holds fewer entries where their texts are long', () => {
    const cache = createLru<string, string>(100, { lengthOf: (text) => text.length });
    for (let n = 0; n < 1_000; n++) cache.set(`k${n}`, 'x'.repeat(2_560));
    assert.equal(cache.size, 9);
    for (let n = 0; n < 1_000; n++) cache.set(`${n}`.padEnd(2_560), '');
    assert.equal(cache.size, 9);
    cache.set('too long', 'x'.repeat(100_000));
    assert.equal(cache.has('too long'), false);
  });
});
