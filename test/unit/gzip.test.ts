import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { BlockMaterial } from '../../services/common/gen/indexer/block/v1/block.js';
import { compress, decompress, ownMemory } from '../../services/common/util/gzip.js';
import { readMaterial } from '../../services/common/util/material.js';

describe('compression', () => {
  for (const size of [0, 1, 20, 5_000, 64 * 1024, 64 * 1024 + 1, 300_000]) {
    it(`gives ${size} bytes back, and holds no more memory than they take compressed`, async () => {
      for (const bytes of [randomBytes(size), Buffer.alloc(size, 'a block, ')]) {
        const compressed = await compress(bytes);
        assert.equal(compressed.buffer.byteLength, compressed.length);
        assert.deepEqual(await decompress(compressed), bytes);
      }
    });
  }

  it('leaves bytes alone that have memory of their own', () => {
    const own = Buffer.alloc(100, 1);
    assert.equal(ownMemory(own), own);
    const part = gzipSync('x');
    assert.notEqual(part.buffer.byteLength, part.length, 'else ownMemory is not needed any more');
    assert.deepEqual(ownMemory(part), part);
  });
});

describe('material of blocks', () => {
  const given = (text: string): BlockMaterial => ({
    txs: [],
    receipts: Buffer.from(text),
    block_events: Buffer.from('[]'),
  });
  const written = async (text: string) => compress(BlockMaterial.encode(given(text)).finish());

  it('is read once for all who have the same bytes, and by itself from others', async () => {
    const [material, copy, other] = [await written('a'), await written('a'), await written('b')];
    const [first, second, third] = [
      readMaterial({ material }),
      readMaterial({ material }),
      readMaterial({ material: copy }),
    ];
    assert.equal(await first, await second);
    assert.notEqual(await first, await third);
    assert.deepEqual(await first, given('a'));
    assert.deepEqual(await third, given('a'));
    assert.deepEqual(await readMaterial({ material: other }), given('b'));
  });

  it('that is damaged fails for everybody', async () => {
    const material = (await written('a')).subarray(0, 10);
    await assert.rejects(readMaterial({ material }));
    await assert.rejects(readMaterial({ material }));
  });
});
