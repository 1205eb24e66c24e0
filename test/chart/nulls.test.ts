import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changes } from '../support/chart/changes.js';
import {
  chart,
  helmAside,
  renderTextAside,
  templateArgs,
  valuesFile,
  writeValues,
} from '../support/chart/helm.js';
import { leavesOf, mapsOf, only, ownValues } from '../support/chart/leaves.js';
import { nullFields } from '../support/chart/null-fields.js';
import { componentsWithValues } from '../support/chart/takers.js';
import { forEach } from '../support/few-at-a-time.js';

const minimal = valuesFile('minimal');
const everything = valuesFile('everything');

/** What somebody has to say, or what others of `everything` and changes.ts cannot do without. */
const refused = [
  ...['node', 'node.rpc', 'node.rest', 'node.jsonRpc', 'node.existingSecret'],
  ...['chain', 'chain.id', 'chain.vm', 'clickhouse', 'clickhouse.url', 'clickhouse.existingSecret'],
  ...['defaults.extraVolumes', 'defaults.podSecurityContext.seccompProfile.type'],
  ...['defaults.autoscaling.targetCPUUtilizationPercentage', 'defaults.autoscaling.keda.triggers'],
  ...['gateway.route.parentRefs', 'gateway.service.type'],
  ...['tls.existingSecret', 'tls.certManager.issuerRef.name'],
];

describe('T0: null among the values', () => {
  it('leaves no field null, or is refused with the name of the key', async function () {
    this.timeout(900_000);
    assert.deepEqual(nullFields(await renderTextAside([everything])), []);
    const maps = mapsOf(ownValues()).filter((path) => path.length > 0);
    const paths = [...maps, ...leavesOf(ownValues()).map(({ path }) => path)];
    assert.ok(paths.length > 340);
    const wrong: Record<string, unknown> = {};
    const taken = new Set<string>();
    const tryAll = async (some: readonly Path[]): Promise<void> => {
      const fault = await faultOf(some);
      if (fault !== undefined && some.length > 1) for (const one of some) await tryAll([one]);
      else if (fault === undefined) for (const one of some) taken.add(one.join('.'));
      else if (fault !== 'refused') wrong[some.join(' ').replaceAll(',', '.')] = fault;
    };
    await forEach(fewAtOnce(paths), tryAll);
    assert.deepEqual(wrong, {});
    const names = paths.map((path) => path.join('.'));
    assert.deepEqual(
      names.filter((name) => !taken.has(name)),
      names.filter((name) => refused.includes(name)),
    );
  });

  it('is looked for by every template before it takes a value', () => {
    const folder = join(chart, 'templates');
    const templates = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /(\.yaml|NOTES\.txt)$/.test(path),
    );
    assert.ok(templates.length > 15);
    const late = templates.filter(
      (path) => !readFileSync(join(folder, path), 'utf8').startsWith('{{- include "weft.values" . -}}\n'),
    );
    assert.deepEqual(late, []);
  });

  it('leaves a component as the defaults say, whatever it is that is null', async () => {
    const own = {
      defaults: { podLabels: { a: 'b' }, nodeSelector: { pool: 'a' }, pdb: { minAvailable: 1 } },
    };
    const files = [minimal, writeValues(own)];
    // Of these, values.yaml has requests and limits of their own.
    const takers = componentsWithValues().filter(({ path }) => path[2] !== 'ingest');
    const nothing = takers.map(({ path, takes }) =>
      writeValues(only(path, Object.fromEntries(takes.map((name) => [name, null])))),
    );
    assert.equal(await renderTextAside([...files, ...nothing]), await renderTextAside(files));
  });

  it('is nothing in labels and annotations of all objects', async () => {
    const text = await renderTextAside([
      everything,
      writeValues({
        commonLabels: { team: null, a: null },
        commonAnnotations: { 'example.org/owner': null },
      }),
    ]);
    assert.deepEqual(nullFields(text), []);
    assert.doesNotMatch(text, /team: rollups|example\.org\/owner/);
  });
});

type Path = readonly string[];

/**
 * Those that hide nothing of others, several at a time and of places far apart: it takes a third of the time. A map hides
 * what is in it, a switch what it turns off.
 */
function fewAtOnce(paths: readonly Path[]): Path[][] {
  const alone = (path: Path): boolean =>
    path.at(-1) === 'enabled' || changes[path.join('.')]?.beside !== undefined || isMap(path);
  const isMap = (path: Path): boolean =>
    paths.some((other) => other.join('.').startsWith(`${path.join('.')}.`));
  const others = paths.filter((path) => !alone(path) && !refused.includes(path.join('.')));
  const count = Math.ceil(others.length / 8);
  const sets = Array.from({ length: count }, (_, set) => others.filter((_path, at) => at % count === set));
  return [...paths.filter((path) => !others.includes(path)).map((path) => [path]), ...sets];
}

/** What is wrong with the release where these keys are null; `refused`: it is said as it should be. */
async function faultOf(paths: readonly Path[]): Promise<unknown> {
  const beside = paths.map((path) => changes[path.join('.')]?.beside ?? {});
  const values = [...beside, ...paths.map((path) => only(path, null))].map(writeValues);
  const { status, stdout, stderr } = await helmAside(templateArgs([everything, ...values]));
  if (status === 0) {
    const fields = nullFields(stdout);
    return fields.length > 0 ? fields : undefined;
  }
  const isTold = /have mistakes|don't meet the specifications/.test(stderr);
  return isTold && paths.every((path) => new RegExp(`\\b${path.at(-1)}\\b`).test(stderr))
    ? 'refused'
    : stderr;
}
