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
