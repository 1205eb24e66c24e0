import assert from 'node:assert/strict';
import { createLines, tsvField } from '../../services/common/clickhouse/formats.js';

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

  it('have fields in which nothing ends the field or the line', () => {
    assert.equal(tsvField('plain, "quoted" 漢😀'), 'plain, "quoted" 漢😀');
    assert.equal(tsvField('a\tb\nc\\d\\n\r\u0000'), 'a\\tb\\nc\\\\d\\\\n\\r\u0000');
    assert.equal(tsvField('\ud800'), '\ufffd');
  });
});
