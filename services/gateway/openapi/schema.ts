/** A JSON schema (draft 2020-12), as far as the document uses it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly (string | number | null)[];
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
}

/** Schemas by the name that they have in the document. */
export type Schemas = Readonly<Record<string, JsonSchema>>;

/** A reference to a schema of the document by its name. */
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** An object with exactly these properties, all of them required. */
export const exactly = (properties: Record<string, JsonSchema>, description?: string): JsonSchema => ({
  type: 'object',
  ...(description === undefined ? {} : { description }),
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** An object with at least these properties. */
export const atLeast = (properties: Record<string, JsonSchema>, description?: string): JsonSchema => ({
  ...exactly(properties, description),
  additionalProperties: true,
});

export const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

export const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description,
  ...more,
});

/** A whole number written as a string. */
export const decimal = (description: string): JsonSchema => text(description, { pattern: '^[0-9]+$' });

/** A whole number, not negative. */
export const natural = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });

/** RFC 3339 in UTC, ending in Z, with up to nine fraction digits. */
export const timestamp = (description: string): JsonSchema =>
  text(description, { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$' });
