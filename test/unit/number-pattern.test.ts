import assert from 'node:assert/strict';
import { numberPattern } from '../../tools/chart/number-pattern.js';

describe('the pattern of whole numbers', () => {
  it('matches those between two numbers, and no others', () => {
    const ends = [0, 1, 7, 9, 10, 42, 99, 100, 157, 199, 250, 256, 999, 1_000, 1_300, 1_999, 2_049];
    const ranges = ends.flatMap((min) => ends.filter((max) => max >= min).map((max) => [min, max] as const));
    for (const [min, max] of ranges) {
      const pattern = new RegExp(`^${numberPattern(min, max)}$`);
      for (let number = 0; number <= 3_000; number++) {
        const isWithin = number >= min && number <= max;
        assert.equal(pattern.test(String(number)), isWithin, `${number} of ${min}-${max}`);
      }
      assert.equal(pattern.test(`00${max}`), true);
      for (const text of ['', '-1', '1.5', `${max}0`.padStart(6, '9'), `${max} `, 'a'])
        assert.equal(pattern.test(text), false, `${text} of ${min}-${max}`);
    }
  });
  it('goes as far as numbers are exact', () => {
    const pattern = new RegExp(`^${numberPattern(50, Number.MAX_SAFE_INTEGER)}$`);
    for (const text of ['50', '1000000', '9007199254740991', '9007199254740990', '8999999999999999'])
      assert.ok(pattern.test(text), text);
    for (const text of ['49', '9007199254740992', '9007199254741000', '10000000000000000'])
      assert.ok(!pattern.test(text), text);
  });
});
