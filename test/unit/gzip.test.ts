import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { compress, decompress, ownMemory } from '../../services/common/util/gzip.js';

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
