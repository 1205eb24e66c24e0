import type { Setting, Takes } from '../../services/common/runtime/config.js';
import { integer, type Schema } from '../../services/scoring-operator/operator/setting-types.js';
import { numberPattern } from './number-pattern.js';

/**
 * What a setting takes, as a text, or as the number or boolean that YAML makes of it. Nothing is its default. Words are in
 * lower case, though the process takes any.
 */
export function valueSchema({ integers, words = [], pattern }: Takes): Schema {
  const patterns = [
    ...(integers === undefined ? [] : [numberPattern(...integers)]),
    ...(pattern === undefined ? [] : [pattern]),
  ];
  const matched: Schema = {
    ...(integers === undefined ? {} : integer(...integers)),
    type: integers === undefined ? 'string' : ['integer', 'string'],
    pattern: `^\\s*(${patterns.join('|')})?\\s*$`,
  };
  if (words.length === 0) return matched;
  const booleans = [true, false].filter((value) => words.includes(String(value)));
  const numbers = words.filter((word) => /^[0-9]$/.test(word)).map(Number);
  const schemas: readonly Schema[] = [
    { type: booleans.length === 0 ? 'string' : ['string', 'boolean'], enum: ['', ...words, ...booleans] },
    // Not in the same list: some versions of Helm take a number there for the same as its text, and the schema for wrong.
    ...(numbers.length === 0 ? [] : [integer(Math.min(...numbers), Math.max(...numbers))]),
    ...(patterns.length === 0 ? [] : [matched]),
  ];
  return schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas };
}

/** The numbers that a setting takes, for a value of the chart that becomes it. @throws Error where it takes others, too. */
export function numberOf({ parse: { takes } }: Setting<number>): Schema {
  if (takes?.integers === undefined) throw new Error('the setting is no number');
  return integer(...takes.integers);
}

/** The regular expression of a setting's texts, for the same. @throws Error where it takes others, too. */
export function patternOf({ parse: { takes } }: Setting<string>): string {
  if (takes?.pattern === undefined) throw new Error('the setting has no pattern');
  return takes.pattern;
}
