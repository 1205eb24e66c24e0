import { execFile, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../../services/common/runtime/paths.js';

export const chart = join(packageRoot, 'charts/weft');

/** Values files that everything is tried with, by what they are about. */
export const matrix: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('-values.yaml'))
  .map((name) => name.replace('-values.yaml', ''));

export const valuesFile = (name: string): string => join(chart, `ci/${name}-values.yaml`);

/** An object as it is rendered. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: fields differ by kind
  readonly [field: string]: any;
}

/** Path of a program that tools/chart.mjs has built. */
export function program(
  name: 'HELM' | 'HELM_UNITTEST' | 'HELM_DOCS' | 'KUBECONFORM' | 'KWOK' | 'PROMQL',
): string {
  const path = process.env[`WEFT_${name}`];
  if (path === undefined) throw new Error(`WEFT_${name} is not set: run npm run test:chart`);
  return path;
}

const folder = join(process.env['WEFT_TEST_FOLDER'] ?? tmpdir(), 'helm');

/** Options of a run of helm, with files of its own in the tests' folder. */
function options(env: Readonly<Record<string, string>>) {
  mkdirSync(folder, { recursive: true });
  return {
    encoding: 'utf8' as const,
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: folder, HELM_CACHE_HOME: join(folder, 'cache') },
      // It ends before collecting its garbage would pay: two fifths of its processor time.
      GOGC: 'off',
      ...env,
    },
  };
}

/** Runs helm. */
export function helm(args: readonly string[]): SpawnSyncReturns<string> {
  return spawnSync(program('HELM'), args, options({}));
}

/** Runs helm while this process goes on, against a cluster if there is one. */
export function helmAside(
  args: readonly string[],
  kubeconfig?: string,
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const env: Record<string, string> = kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    execFile(program('HELM'), args, options(env), (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}

/** Writes values to a file. @returns its path */
export function writeValues(values: unknown): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `values-${randomBytes(6).toString('hex')}.yaml`);
  writeFileSync(path, JSON.stringify(values));
  return path;
}

/** What `helm template` prints with these values files. @throws Error with what it complains of. */
export function renderText(files: readonly string[], more: readonly string[] = []): string {
  return textOf(helm([...templateArgs(files), ...more]));
}

/** The same while this process goes on. */
export const renderTextAside = async (files: readonly string[]): Promise<string> =>
  textOf(await helmAside(templateArgs(files)));

/** Arguments by which helm renders the chart with these values files. */
export const templateArgs = (files: readonly string[]): string[] => [
  ...['template', 'weft', chart, '--namespace', 'rollups'],
  ...files.flatMap((file) => ['--values', file]),
];

function textOf(answer: {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}): string {
  if (answer.status !== 0) throw new Error(answer.stderr);
  return answer.stdout;
}

/** The same as objects. */
export function render(files: readonly string[], more: readonly string[] = []): Rendered[] {
  return objectsOf(renderText(files, more));
}

/** Objects of what `helm template` prints. */
export function objectsOf(text: string): Rendered[] {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() as Rendered;
    })
    .filter((one) => one !== null);
}
