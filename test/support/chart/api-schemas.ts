import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Writes the API server's own description of its objects (/openapi/v2) as JSON schemas that kubeconform takes, strict:
 * fields that are not described are refused.
 *
 * @returns how many kinds there are.
 */
export function writeApiSchemas(openapi: { readonly definitions: JsonObject }, folder: string): number {
  mkdirSync(folder, { recursive: true });
  const definitions = Object.fromEntries(
    Object.entries(openapi.definitions).map(([name, schema]) => [
      name,
      definition(name, schema as JsonObject),
    ]),
  );
  writeFileSync(join(folder, '_definitions.json'), JSON.stringify({ definitions }));
  let count = 0;
  for (const [name, schema] of Object.entries(openapi.definitions)) {
    if (name.startsWith('io.k8s.apimachinery')) continue;
    const kinds = ((schema as JsonObject)['x-kubernetes-group-version-kind'] ??
      []) as unknown as readonly Kind[];
    for (const { group, version, kind } of kinds) {
      const own = definitions[name] as JsonObject;
      const properties = {
        ...(own['properties'] as JsonObject | undefined),
        apiVersion: { type: 'string', enum: [group === '' ? version : `${group}/${version}`] },
        kind: { type: 'string', enum: [kind] },
      };
      const file = [kind.toLowerCase(), group.split('.')[0] ?? '', version]
        .filter((part) => part !== '')
        .join('-');
      writeFileSync(join(folder, `${file}.json`), JSON.stringify({ ...own, properties }));
      count += 1;
    }
  }
  return count;
}

function definition(name: string, schema: JsonObject): Json {
  if (name.endsWith('.IntOrString')) return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  if (name.endsWith('.Quantity')) return { oneOf: [{ type: 'string' }, { type: 'number' }] };
  const strict = strictly(schema) as JsonObject;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || !isObject(schema['properties']);
  return isOpen || 'additionalProperties' in strict ? strict : { ...strict, additionalProperties: false };
}

function strictly(value: Json): Json {
  if (Array.isArray(value)) return value.map(strictly);
  if (!isObject(value)) return value;
  const { $ref } = value;
  if (typeof $ref === 'string')
    return { $ref: $ref.replace('#/definitions/', '_definitions.json#/definitions/') };
  if (value['format'] === 'int-or-string' || value['x-kubernetes-int-or-string'] === true)
    return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const entries = Object.entries(value).map(([key, inner]) => [key, strictly(inner)] as const);
  const isClosed =
    isObject(value['properties']) &&
    value['x-kubernetes-preserve-unknown-fields'] !== true &&
    !('additionalProperties' in value);
  return { ...Object.fromEntries(entries), ...(isClosed ? { additionalProperties: false } : {}) };
}
