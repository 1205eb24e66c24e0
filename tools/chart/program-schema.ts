import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { Schema } from '../../services/scoring-operator/operator/setting-types.js';

/** The custom resource that ships with the operator. */
export const crdPath = 'services/scoring-operator/operator/crd/scoringprogram.yaml';

/** What the chart fills in. */
const filledIn: ReadonlySet<string> = new Set(['chainId', 'clickhouse', 'rollup', 'jsonRpcUrls']);

/** Fields of a ScoringProgram in the values: those of the custom resource, and no others. */
export function programSchema(): Schema {
  const crd = parse(readFileSync(join(packageRoot, crdPath), 'utf8'));
  return convert(crd.spec.versions[0].schema.openAPIV3Schema.properties.spec);
}

function convert(schema: Readonly<Record<string, unknown>>): Schema {
  const kept = Object.entries(schema).filter(
    ([keyword]) => !keyword.startsWith('x-kubernetes-') && keyword !== 'format' && keyword !== 'required',
  );
  const converted = Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, convertKeyword(keyword, value)]),
  );
  const required = ((schema['required'] as string[] | undefined) ?? []).filter((name) => !filledIn.has(name));
  return {
    ...converted,
    ...(schema['properties'] === undefined ? {} : { additionalProperties: false }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function convertKeyword(keyword: string, value: unknown): unknown {
  const one = (schema: unknown) => convert(schema as Record<string, unknown>);
  if (keyword === 'properties')
    return Object.fromEntries(Object.entries(value as object).map(([name, schema]) => [name, one(schema)]));
  return keyword === 'items' || (keyword === 'additionalProperties' && typeof value === 'object')
    ? one(value)
    : value;
}
