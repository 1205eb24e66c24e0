import type { Schema } from '../../services/scoring-operator/operator/setting-types.js';

/**
 * The same schema, but null stands for any value of a map: by it one values file takes back what another has. What is in
 * lists stays as strict as it is, for those are replaced and never merged.
 */
export function nullable(schema: Schema): Schema {
  return orNull(nullableInside(schema));
}

/** The same, where the value itself may not be null. */
export function nullableInside(schema: Schema): Schema {
  const inner = (one: unknown): Schema => nullable(one as Schema);
  const { properties, additionalProperties, anyOf } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties as object).map(([name, one]) => [name, inner(one)]),
          ),
        }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: inner(additionalProperties) }
      : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map((one) => nullableInside(one as Schema)) } : {}),
  };
}

/** Adds null in the way that a refusal is told best. What is referred to has to take it by itself. */
function orNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    const has = anyOf.some((one: Schema) => one['type'] === 'null' || [one['type']].flat().includes('null'));
    return has ? schema : { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  }
  const types = [type].flat();
  if (type === undefined || types.includes('null')) return schema;
  const values = schema['enum'];
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
