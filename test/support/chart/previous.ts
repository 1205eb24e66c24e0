import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { chart, helm, valuesFile } from './helm.js';

/** A chart that is upgraded from. */
export interface PreviousChart {
  /** Its folder, or the file that it is packed in. */
  readonly path: string;
  /** Version of the image that it runs. */
  readonly appVersion: string;
  /** What its writers are: they were Deployments once. */
  readonly writers: 'Deployment' | 'StatefulSet';
}

/** Where the chart of the last release is, packed. */
const released = join(packageRoot, 'test/fixtures/charts');

/**
 * The chart of a version before: the one that WEFT_PREVIOUS_CHART names, else that of the last release, else, where there
 * is none yet, today's under another version.
 *
 * @param folder where that one may be made.
 * @throws Error where several are packed: nobody would know which is tried.
 */
export function previousChart(folder: string): PreviousChart {
  const packed = existsSync(released) ? readdirSync(released).filter((name) => name.endsWith('.tgz')) : [];
  if (packed.length > 1) throw new Error(`${released} has more than one chart: ${packed.join(', ')}`);
  const [last] = packed.map((name) => join(released, name));
  const path = process.env['WEFT_PREVIOUS_CHART'] ?? last ?? underAnotherVersion(folder);
  const { status, stdout, stderr } = helm(['show', 'chart', path]);
  if (status !== 0) throw new Error(stderr);
  const workloads = helm(['template', 'weft', path, '--values', valuesFile('minimal')]).stdout;
  const writers = /^kind: StatefulSet$/m.test(workloads) ? 'StatefulSet' : 'Deployment';
  return { path, writers, appVersion: parse(stdout).appVersion as string };
}

function underAnotherVersion(folder: string): string {
  const path = join(folder, 'previous/weft');
  cpSync(chart, path, { recursive: true });
  const file = join(path, 'Chart.yaml');
  const text = readFileSync(file, 'utf8')
    .replace(/^version: .*/m, 'version: 0.0.9')
    .replace(/^appVersion: .*/m, 'appVersion: 0.0.9');
  writeFileSync(file, text);
  return path;
}
