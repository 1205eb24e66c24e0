import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isMainModule, packageRoot } from '../../services/common/runtime/paths.js';
import { dashboards } from './dashboards.js';
import { jobNames } from './job-names.js';
import { crdPath } from './program-schema.js';
import { valuesSchema } from './values-schema.js';

const chart = join(packageRoot, 'charts/weft');
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
const shipped = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** Files of the chart that are made from the code, by their paths in it. */
export function generatedFiles(): Readonly<Record<string, string>> {
  const roles = ['job', 'leader', 'operator', 'people'].map((name) => [
    `files/rbac/${name}.yaml`,
    shipped(`services/scoring-operator/operator/rbac/${name}.yaml`),
  ]);
  return {
    'values.schema.json': json(valuesSchema()),
    'files/values.json': json(parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))),
    'files/job-names.json': json(jobNames()),
    'files/scoringprogram.yaml': shipped(crdPath),
    ...Object.fromEntries(roles),
    ...Object.fromEntries(
      Object.entries(dashboards()).map(([name, one]) => [`dashboards/${name}`, json(one)]),
    ),
  };
}

/** Which of them are not what they would be made to now. */
export function staleFiles(): string[] {
  return Object.entries(generatedFiles())
    .filter(([path, text]) => {
      try {
        return readFileSync(join(chart, path), 'utf8') !== text;
      } catch {
        return true;
      }
    })
    .map(([path]) => path);
}

if (isMainModule(import.meta.url))
  for (const [path, text] of Object.entries(generatedFiles())) writeFileSync(join(chart, path), text);
