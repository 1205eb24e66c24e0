import assert from 'node:assert/strict';
import { createEndTable } from '../../services/tx/store/list-end-cache.js';
import { type ListEnd, latestKept, listKey } from '../../services/tx/store/list-ends.js';
import { mulberry32 } from '../../tools/replay/faults.js';

const headOf = (count: number, first: number, kept = latestKept): ListEnd => ({
  count,
  latest: Array.from({ length: Math.min(count, kept) }, (_, i) => first - i),
});

describe('table of list ends', () => {
  it('gives back what was set, sequences beyond 32 bits and short ends too', () => {
    const table = createEndTable(10);
    const heads = [
      headOf(1, 1),
      headOf(latestKept, 2 ** 40),
      headOf(5_000_000_000, Number.MAX_SAFE_INTEGER),
      // as tables hold them that were written when fewer were kept
      headOf(40, 900, 3),
      { count: 0, latest: [] },
    ];
    for (const [i, head] of heads.entries()) table.set(listKey('tx', String(i)), head);
    for (const [i, head] of heads.entries()) assert.deepEqual(table.get(listKey('tx', String(i))), head);
    assert.equal(table.get(listKey('signed_tx', '0')), undefined);
  });

  it('gives what it had when asked, whatever is set afterwards', () => {
    const table = createEndTable(10);
    const key = listKey('tx', 'aa');
    table.set(key, headOf(30, 300));
    const before = table.get(key);
    table.set(key, headOf(2, 7));
    assert.deepEqual(before, headOf(30, 300));
    assert.deepEqual(table.get(key), headOf(2, 7), 'nothing of a longer one is left');
  });

  it('forgets the list that was used least lately, and says so', () => {
    let evicted = 0;
    const table = createEndTable(2, () => {
      evicted += 1;
    });
    const [a, b, c] = ['a', 'b', 'c'].map((account) => listKey('evm_tx', account));
    table.set(a!, headOf(1, 1));
    table.set(b!, headOf(2, 2));
    table.get(a!);
    table.set(a!, headOf(3, 3));
    assert.equal(evicted, 0, 'setting a list again makes no other go');
    table.set(c!, headOf(4, 4));
    assert.equal(evicted, 1);
    assert.equal(table.get(b!), undefined);
    assert.deepEqual([table.get(a!)?.count, table.get(c!)?.count], [3, 4]);
    table.clear();
    assert.equal(evicted, 1, 'clearing is no eviction');
    assert.equal(table.get(a!), undefined);
  });

  it('never mixes lists up, over many pages, evictions and clearings', () => {
    const capacity = 9_000;
    const table = createEndTable(capacity);
    const random = mulberry32(3);
    const last = new Map<string, ListEnd>();
    let hits = 0;
    for (let i = 0; i < 60_000; i++) {
      const key = listKey('internal_tx', String(Math.floor(random() * 12_000)));
      if (random() < 0.6) {
        const head = headOf(1 + Math.floor(random() * 30), 100_000 + i);
        table.set(key, head);
        last.set(key, head);
      } else {
        const found = table.get(key);
        if (found !== undefined) {
          hits += 1;
          assert.deepEqual(found, last.get(key));
        }
      }
      if (i === 30_000) {
        table.clear();
        last.clear();
      }
    }
    assert.ok(hits > 5_000, `${hits} hits`);
  });
});
