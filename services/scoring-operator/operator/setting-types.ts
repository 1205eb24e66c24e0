import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { asMatching, orEmpty } from '../../common/runtime/config.js';
import { labels as own } from './resource.js';

/** A JSON schema (draft 7, which every Helm 3 knows). */
export type Schema = { readonly [keyword: string]: unknown };

/** An object that takes these properties and no others: a name that is misspelt is refused. */
export const strict = (
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length === 0 ? {} : { required }),
});

export const text = (keywords: Schema = {}): Schema => ({ type: 'string', ...keywords });
export const boolean: Schema = { type: 'boolean' };
export const integer = (minimum: number, maximum?: number): Schema => ({
  type: 'integer',
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});
export const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
export const list = (items: Schema): Schema => ({ type: 'array', items });
export const open: Schema = { type: 'object' };
export const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
export const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
/** Also null, by which a default is taken away. */
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
/** A number of pods, or a share of them in percent. */
export const countOrPercent: Schema = { anyOf: [integer(0), text({ pattern: '^[0-9]+%$' })] };
/** A time as Prometheus writes it. */
export const duration: Schema = text({ pattern: '^[0-9]+(ms|s|m|h|d)$' });
export const optionalDuration: Schema = text({ pattern: '^([0-9]+(ms|s|m|h|d))?$' });

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

export type Json = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string>>;

const name = '[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?';
const part = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
/** Values by names that may begin with the domain of whoever has given them, as Kubernetes has it. */
const named = (domainPart: string, value: Schema): Schema => ({
  type: 'object',
  propertyNames: { pattern: `^(${domainPart}(\\.${domainPart})*/)?${name}$`, maxLength: 317 },
  additionalProperties: value,
});

/** Labels. */
export const labelsSchema = named(part, text({ pattern: `^(${name})?$` }));

/** Annotations: other than those of labels, their domains may have upper-case letters. */
export const annotationsSchema = named(part.replaceAll('a-z', 'A-Za-z'), text());

/** Labels with their values. */
export const asLabelValues = asJson<Texts>(labelsSchema, 'labels');

/** Labels that are not the operator's own, by which it finds its children. */
export function asFreeLabels(given: string): Texts | undefined {
  const labels = asLabelValues(given);
  const taken = Object.values(own).filter((name) => labels?.[name] !== undefined);
  if (taken.length > 0) throw new Error(`must not have ${taken.join(', ')}: the operator sets that itself`);
  return labels;
}

/** Annotations with their values. */
export const asAnnotations = asJson<Texts>(annotationsSchema, 'annotations');

/** A name that Kubernetes takes. @throws Error that says what one is. */
export const asName = asMatching(
  '[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?',
  'lower-case letters, digits, - and .',
);

/** The same, or nothing. */
export const asOptionalName = orEmpty(asName);

/** Names, separated by commas. @throws Error that says what one is. */
export function asNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map(asName);
}

/** One of some words as Kubernetes writes them, in any case, or nothing. @throws Error that names them. */
export const asWord =
  <const T extends string>(...words: readonly T[]) =>
  (text: string): T | '' => {
    const word = words.find((one) => one.toLowerCase() === text.toLowerCase());
    if (text !== '' && word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return word ?? '';
  };

const seconds: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 };

/** Seconds of a duration as Go writes it, such as 1h30m or 600s. @throws Error for any other text */
export function toSeconds(duration: string): number {
  if (!/^(\d+[hms])+$/.test(duration)) throw new Error(`${JSON.stringify(duration)} is no duration`);
  return [...duration.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (seconds[unit as string] as number),
    0,
  );
}
