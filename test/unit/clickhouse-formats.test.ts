import assert from 'node:assert/strict';
import { createBinaryRows, createLines, readRowBinary } from '../../services/common/clickhouse/formats.js';

describe('lines of an insert', () => {
  it('are all there, in order, in a few long texts', () => {
    const lines = createLines();
    const added = Array.from({ length: 2_500 }, (_, index) => `line ${index}`);
    for (const line of added) lines.add(line);
    lines.add('x'.repeat(300_000));
    lines.add('last');
    const texts = lines.texts();
    assert.deepEqual(texts.join('\n').split('\n'), [...added, 'x'.repeat(300_000), 'last']);
    assert.equal(texts.length, 4);
    assert.deepEqual(createLines().texts(), []);
  });
});

describe('binary rows of an insert', () => {
  it('are read as they were written, whatever their size', () => {
    const rows = createBinaryRows({ bytes: 1_000_000, rows: 1_000 });
    const texts = [
      '',
      'plain',
      'a\tb\nc\\d\r\u0000',
      '漢😀',
      'x'.repeat(127),
      'y'.repeat(128),
      'z'.repeat(70_000),
    ];
    const numbers = [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
    for (const text of texts) {
      rows.uint8(7);
      rows.string(text);
      rows.string(Buffer.from(text));
      rows.uint64s(numbers);
      rows.uint64(2n ** 64n - 1n);
      rows.uint32(2 ** 32 - 1);
      rows.end();
    }
    const [bytes = Buffer.of(), ...others] = rows.parts();
    assert.deepEqual(others, []);
    const read = readRowBinary(bytes);
    for (const text of texts) {
      assert.equal(read.fixed(1)[0], 7);
      assert.deepEqual([String(read.bytes()), String(read.bytes())], [text, text]);
      assert.equal(read.fixed(1)[0], numbers.length);
      assert.deepEqual(
        numbers.map(() => read.uint64()),
        numbers,
      );
      assert.equal(read.fixed(8).readBigUInt64LE(), 2n ** 64n - 1n);
      assert.equal(read.uint32(), 2 ** 32 - 1);
    }
    assert.equal(read.more(), false);
  });

  it('are parts of whole rows, each ended by the row that reaches the size', () => {
    const add = (rows: ReturnType<typeof createBinaryRows>, text: string): void => {
      rows.string(text);
      rows.end();
    };
    const bySize = createBinaryRows({ bytes: 100, rows: 1_000 });
    for (const text of ['a'.repeat(60), 'b'.repeat(60), 'c'.repeat(500), 'd']) add(bySize, text);
    assert.deepEqual(
      bySize.parts().map(({ length }) => length),
      [122, 502, 2],
    );
    const byCount = createBinaryRows({ bytes: 1_000, rows: 2 });
    for (const text of ['a', 'b', 'c']) add(byCount, text);
    assert.deepEqual(byCount.parts().map(String), ['\x01a\x01b', '\x01c']);
    assert.deepEqual(createBinaryRows({ bytes: 1, rows: 1 }).parts(), []);
  });

  it('have the replacement character for a lone surrogate', () => {
    const rows = createBinaryRows({ bytes: 100, rows: 100 });
    rows.string('\ud800');
    rows.end();
    assert.deepEqual(rows.parts().map(String), ['\x03\ufffd']);
  });
});
