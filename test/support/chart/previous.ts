import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chart } from './helm.js';

/** Makes the chart as a version before: the templates of now, with other versions. @returns its folder */
export function previousChart(folder: string): string {
  const path = join(folder, 'previous/weft');
  cpSync(chart, path, { recursive: true });
  const file = join(path, 'Chart.yaml');
  const text = readFileSync(file, 'utf8')
    .replace(/^version: .*/m, 'version: 0.0.9')
    .replace(/^appVersion: .*/m, 'appVersion: 0.0.9');
  writeFileSync(file, text);
  return path;
}
