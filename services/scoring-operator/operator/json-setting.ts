import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { list, type Schema } from '../../common/json-schema.js';

/**
 * Reads JSON of a shape; empty text is undefined. Errors name what is wrong and where, all at once, and quote no value:
 * it may be a secret.
 *
 * @param what is said of it in errors, such as `a list of tolerations`.
 */
export function asJson<T>(schema: Schema, what: string): (given: string) => T | undefined {
  // Compiled when it is needed, and once.
  let validate: ValidateFunction | undefined;
  return (given) => {
    if (given === '') return undefined;
    let value: unknown;
    try {
      value = JSON.parse(given);
    } catch (error) {
      // The parser's own words quote the text.
      const at = /position (\d+)/.exec((error as Error).message)?.[1];
      throw new Error(`must be ${what} as JSON${at === undefined ? '' : `: wrong at character ${at}`}`);
    }
    validate ??= new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);
    if (!validate(value))
      throw new Error(`must be ${what}: ${(validate.errors ?? []).map(described).join(', ')}`);
    return withoutNulls(value) as T;
  };
}

/** The same for a list of items that differ in a field: the API server would refuse the whole pod. */
export function asListByKey<T extends Readonly<Record<K, string>>, K extends string>(
  items: Schema,
  key: K,
  what: string,
): (given: string) => readonly T[] | undefined {
  const parse = asJson<readonly T[]>(list(items), what);
  return (given) => {
    const values = parse(given);
    const keys = values?.map((item) => item[key]) ?? [];
    const twice = keys.filter((one, index) => keys.indexOf(one) !== index);
    if (twice.length > 0) throw new Error(`must have one of each ${key}: ${[...new Set(twice)].join(', ')}`);
    return values;
  };
}

function described({ instancePath, message = 'is wrong', params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty?: string };
  const name = additionalProperty === undefined ? '' : ` such as ${additionalProperty}`;
  return `${instancePath} ${message}${name}`.trim();
}

/** Null takes away; what is applied to the API server has none. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNulls(inner)]));
}
