import type { Setting, Takes } from '../../services/common/config.js';
import type { Schema } from '../../services/common/json-schema.js';
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
    type: integers === undefined ? 'string' : ['integer', 'string'],
    ...(integers === undefined ? {} : { minimum: integers[0], maximum: integers[1] }),
    pattern: `^\\s*(${patterns.join('|')})?\\s*$`,
  };
  if (words.length === 0) return matched;
  const values = words.flatMap((word) =>
    /^(true|false|[0-9]+)$/.test(word) ? [word, JSON.parse(word)] : [word],
  );
  const named: Schema = { type: [...new Set(values.map((value) => typeof value))], enum: ['', ...values] };
  return patterns.length === 0 ? named : { anyOf: [named, matched] };
}

/** The numbers that a setting takes, for a value of the chart that becomes it. @throws Error where it takes others, too. */
export function numberOf({ parse: { takes } }: Setting<number>): Schema {
  if (takes?.integers === undefined) throw new Error('the setting is no number');
  const [minimum, maximum] = takes.integers;
  return { type: 'integer', minimum, maximum };
}
