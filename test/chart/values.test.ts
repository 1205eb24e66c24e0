import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, changes, onlyInCluster } from '../support/chart/changes.js';
import { chart, helm, helmAside, renderTextAside, valuesFile, writeValues } from '../support/chart/helm.js';
import { type Leaf, leavesOf, mapsOf, only, ownValues } from '../support/chart/leaves.js';
import { componentsWithValues } from '../support/chart/takers.js';
import { forEach } from '../support/few-at-a-time.js';

const leaves = leavesOf(ownValues());
const minimal = valuesFile('minimal');
const everything = valuesFile('everything');

/** Keys of the table in the README, each with its description. */
function documented(): Map<string, string> {
  const rows = readFileSync(join(chart, 'README.md'), 'utf8').matchAll(/^\| ([\w."]+) \|.*\| ([^|]*) \|$/gm);
  return new Map([...rows].map(([, key = '', description = '']) => [key, description.trim()]));
}

describe('T0: values', () => {
  it('are all documented', () => {
    const table = documented();
    const missing = leaves.filter(
      ({ path }) => !path.some((_, index) => (table.get(path.slice(0, index + 1).join('.')) ?? '') !== ''),
    );
    assert.deepEqual(
      missing.map(({ path }) => path.join('.')),
      [],
    );
  });

  it('are refused when a name is misspelt, wherever it stands', async () => {
    // Charts that have this one as a dependency share `global`; the others are maps of names that anybody gives.
    const isOpen = (path: readonly string[]): boolean =>
      /^global$|^metrics\.dashboards\.labels$|\.?resources\.(requests|limits)$/.test(path.join('.'));
    const maps = mapsOf(ownValues()).filter((path) => !isOpen(path));
    assert.ok(maps.length > 50);
    // All at once but those that lie within others: helm tells of every one.
    for (const depth of new Set(maps.map(({ length }) => length))) {
      const some = maps.filter(({ length }) => length === depth);
      const files = some.map((path) => writeValues(only([...path, 'misspelt'], 1)));
      const { status, stderr } = await helmAside(triedBy(...files));
      assert.notEqual(status, 0);
      const told = (path: readonly string[]): string =>
        `- at '${path.map((name) => `/${name}`).join('')}': additional properties 'misspelt' not allowed\n`;
      assert.deepEqual(
        some.filter((path) => !stderr.includes(told(path))).map((path) => path.join('.')),
        [],
      );
    }
  });

  it('are refused when they are of another type', () => {
    for (const [path, value] of [
      ['gateway.replicas', 'two'],
      ['chain.vm', 'EVM'],
      ['image.digest', 'sha256:1'],
      ['defaults.logLevel', 'verbose'],
      ['clickhouse.url', 'clickhouse:9000'],
      ['services.tx.settings', { BODY_CASH_MB: 1 }],
      ['services.tx.settings', { CLICKHOUSE_URL: 'http://other' }],
      ['services.tx.ingest', { replicas: 2 }],
      ['services.tx.ingest', { autoscaling: { enabled: true } }],
      ['defaults.tolerations', [{ keys: 'a' }]],
      ['scoringPrograms', { main: { bridge: 5 } }],
      ['scoringPrograms', { ['a'.repeat(44)]: {} }],
      ['migrations.mode', 'never'],
      ['node.timeoutMs', 99],
      ['listenHost', 'localhost'],
      ['tls.reloadSeconds', 86_401],
      ['defaults.maxConnectionAgeMs', 86_400_001],
      ['scoringOperator.settings', { TX_MAX_SCORES: 5 }],
    ] as const) {
      const { status } = helm(triedBy(writeValues(only(path.split('.'), value))));
      assert.notEqual(status, 0, `${path} of ${JSON.stringify(value)} is taken`);
    }
  });

  it('do something, every single one', async function () {
    this.timeout(900_000);
    const render = async (files: readonly string[]): Promise<string> =>
      (await renderTextAside(files)).replaceAll(/checksum\/.*/g, '');
    const bases = new Map<string, Promise<string>>();
    const idle: string[] = [];
    const seen = leaves.filter(({ path }) => !onlyInCluster.has(path.join('.')));
    await forEach(seen, async ({ path, value }) => {
      const { to, beside = {}, also = {} } = changeOf({ path, value });
      const base = [everything, writeValues(beside)];
      const key = JSON.stringify(beside);
      const before = bases.get(key) ?? render(base);
      bases.set(key, before);
      const after = await render([...base, writeValues(also), writeValues(only(path, to))]);
      if ((await before) === after) idle.push(path.join('.'));
    });
    assert.deepEqual(idle, []);
  });

  it('do something below every component that takes them', async function () {
    this.timeout(300_000);
    const objectsOf = async (values: unknown): Promise<Map<string, string>> =>
      byComponent(await renderTextAside([everything, writeValues(values)]));
    const before = await objectsOf({});
    const taken = componentsWithValues();
    const names = [...new Set(taken.flatMap((one) => one.takes))];
    assert.ok(names.length > 30);
    const idle: string[] = [];
    await forEach(names, async (name) => {
      const takers = taken.filter(({ takes }) => takes.includes(name));
      const tried = leaves.find(({ path }) => path[0] === 'defaults' && path[1] === name) as Leaf;
      const [, ...inner] = tried.path;
      const values = takers.map(({ path }) => {
        const { to, beside = {} } = changeOf({ ...tried, path: [...path, ...inner] }, tried.path);
        return [writeValues(beside), writeValues(only([...path, ...inner], to))];
      });
      const after = byComponent(await renderTextAside([everything, ...values.flat()]));
      for (const { path, components } of takers)
        if (components.every((one) => before.get(one) === after.get(one)))
          idle.push([...path, name].join('.'));
    });
    assert.deepEqual(idle, []);
  });
});

/** What is rendered for each component, as text. */
function byComponent(text: string): Map<string, string> {
  const objects = new Map<string, string>();
  for (const document of text.replaceAll(/checksum\/.*/g, '').split('\n---\n')) {
    const component = /^ {4}app\.kubernetes\.io\/component: (\S+)$/m.exec(document)?.[1] ?? '';
    objects.set(component, (objects.get(component) ?? '') + document);
  }
  return objects;
}

/** How files of values are tried beside the least that is needed. */
const triedBy = (...files: string[]): string[] => [
  ...['template', 'weft', chart, '--values', minimal, ...files.flatMap((file) => ['--values', file])],
];

/** Another value of the same kind. @param as where the same value stands that changes.ts tells of */
function changeOf({ path, value }: Leaf, as: readonly string[] = path): Change {
  const told = changes[path.join('.')] ?? changes[as.join('.')];
  if (told !== undefined) return told;
  if (typeof value === 'boolean') {
    const now = path.reduce(
      (inner, name) => (inner as Record<string, unknown>)?.[name],
      everythingValues() as unknown,
    );
    return { to: !(now ?? value) };
  }
  if (typeof value === 'number') return { to: value + 1 };
  if (typeof value === 'string') return { to: `${value}x` };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { to: { other: 'other' } };
  throw new Error(`${path.join('.')}: say in changes.ts what to try`);
}

let parsed: unknown;
const everythingValues = (): unknown => {
  parsed ??= JSON.parse(helmValues());
  return parsed;
};

/** The values that `everything` comes to. */
function helmValues(): string {
  const { stdout, stderr } = helm([
    ...['template', 'weft', chart, '--values', everything, '--values'],
    writeValues({ extraObjects: ['{{ dict "apiVersion" "v1" "kind" "Values" "values" .Values | toJson }}'] }),
    ...['--show-only', 'templates/extra-objects.yaml'],
  ]);
  assert.equal(stderr, '');
  const line = stdout.split('\n').find((one) => one.startsWith('{')) as string;
  return JSON.stringify(JSON.parse(line).values);
}
