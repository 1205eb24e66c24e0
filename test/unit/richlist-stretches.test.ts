import assert from 'node:assert/strict';
import { findOffset } from '../../services/richlist/read/ranks.js';
import { addChange, rankRows, startBatch } from '../../services/richlist/store/rows.js';
import { emptyList, indexOf, joinShort, type Stretch } from '../../services/richlist/store/stretches.js';

const stretch = (shortfall: number, count: number, account = ''): Stretch => ({
  shortfall: BigInt(shortfall),
  account,
  count,
});

describe('stretches of a list', () => {
  const list = [stretch(0, 3), stretch(10, 2, 'b'), stretch(10, 4, 'd'), stretch(20, 1)];

  it('a place lies in the last one that begins at or before it', () => {
    const at = (shortfall: number, account: string): number =>
      indexOf(list, { shortfall: BigInt(shortfall), account });
    assert.deepEqual(
      [
        at(0, ''),
        at(9, 'z'),
        at(10, 'a'),
        at(10, 'b'),
        at(10, 'c'),
        at(10, 'd'),
        at(19, ''),
        at(20, ''),
        at(99, 'z'),
      ],
      [0, 0, 0, 1, 1, 2, 2, 3, 3],
    );
    assert.equal(indexOf(emptyList(), { shortfall: 5n, account: 'x' }), 0);
  });

  it('an offset is found from either end', () => {
    assert.deepEqual(findOffset(list, 0, false), { stretch: list[0], skip: 0 });
    assert.deepEqual(findOffset(list, 4, false), { stretch: list[1], skip: 1 });
    assert.deepEqual(findOffset(list, 9, false), { stretch: list[3], skip: 0 });
    assert.equal(findOffset(list, 10, false), undefined);
    // From the end: reading begins below the stretch that follows.
    assert.deepEqual(findOffset(list, 0, true), { stretch: undefined, skip: 0 });
    assert.deepEqual(findOffset(list, 1, true), { stretch: list[3], skip: 0 });
    assert.deepEqual(findOffset(list, 6, true), { stretch: list[2], skip: 1 });
    assert.equal(findOffset(list, 10, true), undefined);
    assert.equal(findOffset([], 0, false), undefined);
  });

  it('short neighbours become one, and the first place stays', () => {
    const some = [stretch(0, 1), stretch(10, 1), stretch(20, 9)];
    const { gone, grown } = joinShort(some, new Set([some[0] as Stretch]), 4);
    assert.deepEqual(gone, [stretch(10, 1)]);
    assert.deepEqual([...grown], [stretch(0, 2)]);
    assert.deepEqual(some, [stretch(0, 2), stretch(20, 9)]);
    assert.deepEqual(joinShort(some, new Set(some), 4).gone, []);
  });
});

describe('the ranks of a batch', () => {
  it('are one text a token, which no insert cuts, with the number of its last change', () => {
    const batch = startBatch(10);
    for (const [token, account] of [
      ['a', 'x'],
      ['b', 'x'],
      ['a', 'y'],
    ] as const)
      addChange(batch, { token, account }, undefined, 5, 7n, 'log');
    const row = (token: string, account: string) => ({
      ...{ token, account, shortfall: '1', holder_count: 2, gone: false },
    });
    const texts = rankRows(batch, [row('a', ''), row('b', ''), row('a', 'm')]);
    const ords = texts.map((text) => text.split('\n').map((line) => JSON.parse(line).ord));
    assert.deepEqual(ords, [[13, 13], [12]]);
  });
});
