import assert from 'node:assert/strict';
import { checkJson, parseInnerJson } from '../../services/common/util/bounded-input.js';

const MiB = 1024 * 1024;

/** Whether a text passes that may have so many bytes. */
const passes = (text: string, max_bytes = MiB): boolean => {
  try {
    checkJson(Buffer.from(text), max_bytes);
    return true;
  } catch {
    return false;
  }
};

describe('the bound of values in a JSON text', () => {
  it('counts members and elements, and grows with the bytes that are allowed', () => {
    const values = `[${'0,'.repeat(3 * MiB)}0]`;
    assert.equal(passes(values, 24 * 2 * MiB), false);
    assert.equal(passes(values, 24 * 4 * MiB), true);
    assert.equal(passes(`{${'"a":0,'.repeat(MiB + 1)}"a":0}`), false);
  });

  it('counts nothing within strings, however they are escaped', () => {
    const inner = '{[,'.repeat(MiB);
    const backslashes = '\\\\'.repeat(100);
    for (const text of [
      inner,
      `\\"${inner}`,
      `${inner}\\"${inner}`,
      `${backslashes}\\"${inner}`,
      `é€${inner}`,
    ])
      assert.equal(passes(`["${text}","x"]`), true, text.slice(0, 20));
    // The string ends before what is counted.
    for (const text of [
      '',
      'a',
      backslashes,
      `${'x'.repeat(63)}\\\\`,
      `${'x'.repeat(62)}\\\\`,
      'x'.repeat(500),
    ])
      assert.equal(passes(`["${text}",${'[],'.repeat(MiB)}0]`), false, text.slice(-20));
  });

  it('says how deep values lie in each other, and leaves what is not JSON to the parser', () => {
    const padding = `"${'x'.repeat(MiB)}"`;
    const nested = (depth: number): string =>
      `${'[{"a":'.repeat(depth / 2)}${padding}${'}]'.repeat(depth / 2)}`;
    assert.equal(passes(nested(20_000)), true);
    assert.equal(passes(nested(20_002)), false);
    for (const text of [`"${'x'.repeat(MiB)}`, `]${padding}`, `<html>${padding}`, `"\\${'x'.repeat(MiB)}\\`])
      assert.equal(passes(text), true);
  });

  it('holds for a text in a string of another one', () => {
    assert.deepEqual(parseInnerJson('[{"a":1}]'), [{ a: 1 }]);
    assert.throws(() => parseInnerJson(`[${'{},'.repeat(MiB)}0]`), { name: 'BodyTooLarge' });
  });
});
