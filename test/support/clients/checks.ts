import assert from 'node:assert/strict';

/** Fails, naming the place, when a value is not as a client needs it. */
export type Check = (value: unknown, at: string) => void;

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 200) ?? 'nothing';

/** A check of one value. */
const that =
  (what: string, holds: (value: unknown) => boolean): Check =>
  (value, at) =>
    assert.ok(holds(value), `${at} is ${shown(value)}, not ${what}`);

export const text = that('a text', (value) => typeof value === 'string');
export const filled = that(
  'a text with something in it',
  (value) => typeof value === 'string' && value !== '',
);
export const number = that('a number', (value) => typeof value === 'number' && Number.isFinite(value));
export const bool = that('true or false', (value) => typeof value === 'boolean');
export const nothing = that('null', (value) => value === null);

/** What Number() makes a number of, and nothing that it makes one of by accident (null, '', lists). */
export const coercible = that(
  'a number or its digits',
  (value) =>
    (typeof value === 'number' || (typeof value === 'string' && value !== '')) &&
    Number.isFinite(Number(value)),
);

/** A count as text: decimal, never negative. */
export const decimal = that('digits', (value) => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value));

/** Hex that BigInt() reads. */
export const hexNumber = that(
  'a hex number',
  (value) => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value),
);

/** ISO 8601 with a Z, which Date reads too. */
export const utc = that(
  'a UTC time',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value) &&
    Number.isFinite(Date.parse(value)),
);

/** A list of at least so many; `null` is none. */
export const list =
  (check: Check, least = 0): Check =>
  (value, at) => {
    assert.ok(Array.isArray(value), `${at} is ${shown(value)}, not a list`);
    assert.ok(value.length >= least, `${at} has ${value.length} items, not ${least}`);
    for (const [i, item] of value.entries()) check(item, `${at}[${i}]`);
  };

/** An object with these members; it may have more. */
export const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value, at) => {
    assert.ok(
      typeof value === 'object' && value !== null && !Array.isArray(value),
      `${at} is ${shown(value)}`,
    );
    for (const [name, check] of Object.entries(members))
      check((value as Record<string, unknown>)[name], `${at}.${name}`);
  };

/** Any of several. */
export const either =
  (...checks: readonly Check[]): Check =>
  (value, at) => {
    const problems: string[] = [];
    for (const check of checks) {
      try {
        check(value, at);
        return;
      } catch (error) {
        problems.push(String(error));
      }
    }
    assert.fail(problems.join('; '));
  };

/** Both, the second of which may look at more than a shape. */
export const both =
  (first: Check, second: Check): Check =>
  (value, at) => {
    first(value, at);
    second(value, at);
  };
