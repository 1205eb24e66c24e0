import assert from 'node:assert/strict';
import { JsonTextError, sliceMember, splitArray } from '../../services/common/chain/json.js';
import { type Random, randomFrom } from '../support/random.js';

const PIECES = [...'a"\\{}[],:\n\u0000漢🐈 \u2028é', '\ud800'];

function randomValue(random: Random, depth: number): unknown {
  const text = () =>
    Array.from({ length: random.integer(random.oneIn(10) ? 120 : 8) }, () => random.pick(PIECES)).join('');
  switch (random.integer(depth > 4 ? 4 : 6)) {
    case 0:
    case 1:
      return text();
    case 2:
      return random.pick([0, -1, 1.5, 1e300, -0.25e-9, 9007199254740991]);
    case 3:
      return random.pick([true, false, null]);
    case 4:
      return Array.from({ length: random.integer(4) }, () => randomValue(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.integer(4) }, () => [text(), randomValue(random, depth + 1)]),
      );
  }
}

describe('splitArray', () => {
  it('keeps every element to the byte', () => {
    assert.deepEqual(splitArray(' [ 18446744073709551615 , 1.0 ,"\\u0041",{ "a" : [1, 2] },[ ]\n] '), [
      '18446744073709551615',
      '1.0',
      '"\\u0041"',
      '{ "a" : [1, 2] }',
      '[ ]',
    ]);
    assert.deepEqual(splitArray(Buffer.from('["漢",""]')), ['"漢"', '""']);
    assert.deepEqual(splitArray('[]'), []);
    assert.deepEqual(splitArray('[ ]'), []);
  });

  it('is not fooled by brackets, quotes and backslashes in strings', () => {
    const values = [
      ']',
      '[',
      '"',
      '\\',
      '\\"',
      'a\\',
      '\\\\"],["',
      '{"a":"]"}',
      `${'x'.repeat(100)}"]`,
      '\\'.repeat(99),
    ];
    assert.deepEqual(
      splitArray(JSON.stringify(values)).map((text) => JSON.parse(text)),
      values,
    );
  });

  it('agrees with JSON.parse on random values, however they are spaced', () => {
    const random = randomFrom(7);
    for (let round = 0; round < 3000; round++) {
      const values = Array.from({ length: random.integer(5) }, () => randomValue(random, 0));
      const text = JSON.stringify(values, null, round % 3);
      assert.deepEqual(
        splitArray(text).map((element) => JSON.parse(element)),
        JSON.parse(text),
      );
    }
  });

  it('accepts and refuses exactly what JSON.parse does', () => {
    const random = randomFrom(11);
    let refused = 0;
    for (let round = 0; round < 6000; round++) {
      const text = mutate(JSON.stringify([randomValue(random, 0), randomValue(random, 0)]), random);
      const expected = outcome(() => JSON.parse(text));
      const actual = outcome(() => splitArray(text).map((element) => JSON.parse(element)));
      if (!Array.isArray(expected)) refused++;
      assert.deepEqual(actual, Array.isArray(expected) ? expected : 'refused', text);
    }
    assert.ok(refused > 1000, `${refused} refused`);
  });

  it('throws a JsonTextError for anything else', () => {
    const broken = [
      '',
      ' ',
      '{}',
      'null',
      '[',
      '[1',
      '[1,',
      '[1,]',
      '[,1]',
      '[1 2]',
      '[1]]',
      '[1}',
      '["a]',
      '["\\"]',
      '[01]',
      '[1.]',
      '[+1]',
      '[tru]',
      '[truex]',
      '[NaN]',
      '["\n"]',
      '["\\x"]',
      '[{"a"}]',
      '[{"a":}]',
      '[{a:1}]',
      '[{"a":1,}]',
      '[{]}',
      "['a']",
      '\ufeff[]',
    ];
    for (const text of broken) assert.throws(() => splitArray(text), JsonTextError, text);
  });

  it('goes to any depth', () => {
    const depth = 200_000;
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(splitArray(`[${deep},1]`)[0]?.length, 2 * depth);
    assert.throws(() => splitArray('['.repeat(depth)), JsonTextError);
  });
});

describe('sliceMember', () => {
  it('gives the raw text of a member', () => {
    const text = ' { "a" : { "b" : 1 } , "b":18446744073709551616,"c":null } ';
    assert.equal(sliceMember(text, 'a'), '{ "b" : 1 }');
    assert.equal(sliceMember(text, 'b'), '18446744073709551616');
    assert.equal(sliceMember(text, 'c'), 'null');
    assert.equal(sliceMember(text, 'd'), undefined);
    assert.equal(sliceMember('{}', 'a'), undefined);
    assert.equal(sliceMember(Buffer.from('{"ü":"é"}'), 'ü'), '"é"');
  });

  it('takes the last of equal keys and knows keys by their meaning', () => {
    assert.equal(sliceMember('{"a":1,"a":2}', 'a'), '2');
    assert.equal(sliceMember('{"\\u0061":3}', 'a'), '3');
    assert.equal(sliceMember('{"a\\"b":4}', 'a"b'), '4');
    assert.equal(sliceMember('{"a\\b":5}', 'a\\b'), undefined);
    assert.equal(sliceMember('{"":6}', ''), '6');
    assert.equal(sliceMember('{"x":"\\"a\\":1","a":7}', 'a'), '7');
  });

  it('agrees with JSON.parse on random objects', () => {
    const random = randomFrom(13);
    for (let round = 0; round < 2000; round++) {
      const object = { a: randomValue(random, 0), b: randomValue(random, 0), '{"': randomValue(random, 0) };
      const text = JSON.stringify(object, null, round % 3);
      for (const [key, value] of Object.entries(JSON.parse(text) as object)) {
        assert.deepEqual(JSON.parse(sliceMember(text, key) ?? ''), value);
      }
    }
  });

  it('throws for what is no object, wherever it is broken', () => {
    for (const text of [
      '',
      '[]',
      '"a"',
      '{"a":1',
      '{"a":1}}',
      '{"a":1,}',
      '{"a" 1}',
      '{"a":1 "b":2}',
      '{"b":[}',
      '{"a":1}x',
    ]) {
      assert.throws(() => sliceMember(text, 'a'), JsonTextError, text);
    }
  });
});

function mutate(text: string, random: Random): string {
  const at = random.integer(text.length);
  const inserted = random.pick([...'"\\[]{},: \n1e-.', 'null', '\u0001']);
  return random.oneIn(2)
    ? text.slice(0, at) + text.slice(at + 1)
    : text.slice(0, at) + inserted + text.slice(at + random.integer(2));
}

function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof JsonTextError || error instanceof SyntaxError);
    return 'refused';
  }
}
