import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { writeApiSchemas } from '../support/chart/api-schemas.js';
import { applyObject } from '../support/chart/apply.js';
import { installForeignCrds } from '../support/chart/foreign-crds.js';
import { matrix, program, type Rendered, render, renderText, valuesFile } from '../support/chart/helm.js';
import { type ControlPlane, controlPlane } from '../support/kubernetes/control-plane.js';
import { ask, type RawAnswer } from '../support/kubernetes/raw.js';

let plane: ControlPlane;
let schemas: string;
const send = (object: Rendered, namespace: string, more: string): Promise<RawAnswer> =>
  applyObject(plane, object, namespace, more);

before(async () => {
  plane = await controlPlane();
  await installForeignCrds(plane);
  const { body } = await ask(plane, 'GET', '/openapi/v2');
  schemas = join(plane.folder, 'schemas');
  assert.ok(writeApiSchemas(body, schemas) > 50);
});

describe('T0: schemas of the API server', () => {
  it('take what is made of all values', () => {
    const { status, stdout } = conform(
      Object.fromEntries(matrix.map((name) => [name, renderText([valuesFile(name)])])),
    );
    assert.equal(status, 0, stdout);
    const { resources, summary } = JSON.parse(stdout);
    assert.equal(summary.invalid + summary.errors, 0, stdout);
    for (const name of matrix) {
      const of = (resources as Conformed[]).filter(({ filename }) => filename.endsWith(`/${name}.yaml`));
      // Only what describes schemas has none itself.
      assert.ok(of.filter((one) => one.status === 'statusSkipped').length <= 1, name);
      assert.ok(of.filter((one) => one.status === 'statusValid').length > 10, name);
    }
  });

  it('refuse a field that there is not', () => {
    const text = renderText([valuesFile('minimal')]).replace('progressDeadlineSeconds', 'progressDeadline');
    assert.notEqual(conform({ wrong: text }).status, 0);
  });
});

/** What kubeconform says of an object. */
interface Conformed {
  readonly filename: string;
  readonly status: string;
}

/** Runs kubeconform on texts with names: once for all, since reading schemas takes most of its time. */
function conform(texts: Readonly<Record<string, string>>) {
  const files = Object.entries(texts).map(([name, text]) => {
    const file = join(plane.folder, `${name}.yaml`);
    writeFileSync(file, text);
    return file;
  });
  return spawnSync(
    program('KUBECONFORM'),
    [
      ...['-strict', '-summary', '-verbose', '-output', 'json', '-skip', 'CustomResourceDefinition'],
      ...['-schema-location', `${schemas}/{{ .ResourceKind }}{{ .KindSuffix }}.json`],
      ...files,
    ],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
}

describe('T1: the API server, where only restricted pods are let in', () => {
  for (const name of matrix)
    it(`takes what is made of the values ${name}, without a warning`, async () => {
      const namespace = await makeNamespace();
      const objects = render([valuesFile(name)], ['--namespace', namespace]);
      // Pods are judged only where their account is there.
      for (const account of objects.filter(({ kind }) => kind === 'ServiceAccount'))
        assert.ok((await send(account, namespace, '')).status < 300);
      for (const object of objects) {
        const what = `${object.kind} ${object.metadata.name}`;
        const answer = await send(object, namespace, '&dryRun=All');
        assert.ok(
          answer.status < 300,
          `${what}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 2_000)}`,
        );
        assert.deepEqual(answer.warnings, [], what);
        for (const document of parseAllDocuments(object['data']?.['programs.yaml'] ?? '')) {
          const program = document.toJS() as Rendered | null;
          if (program === null) continue;
          const judged = await send(program, namespace, '&dryRun=All');
          assert.equal(judged.status, 201, JSON.stringify(judged.body));
          assert.deepEqual(judged.warnings, []);
        }
        if (object['spec']?.template?.spec?.containers !== undefined) await judgePod(object, namespace, what);
      }
    });

  it('warns of a pod that is not', async () => {
    const namespace = await makeNamespace();
    const [workload] = render(
      [valuesFile('minimal')],
      ['--namespace', namespace, '--show-only', 'templates/workloads.yaml'],
    );
    const loose = structuredClone(workload) as Rendered;
    delete loose['spec'].template.spec.containers[0].securityContext;
    const { status, warnings } = await send(loose, namespace, '&dryRun=All');
    assert.equal(status, 201);
    assert.match(warnings.join(), /would violate PodSecurity/);
  });
});

async function makeNamespace(): Promise<string> {
  const name = `test-${randomBytes(4).toString('hex')}`;
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  assert.equal((await ask(plane, 'POST', '/api/v1/namespaces', { metadata: { name, labels } })).status, 201);
  return name;
}

/** A Deployment or a Job with a bad pod only brings a warning: so its pod is tried, too. */
async function judgePod(object: Rendered, namespace: string, what: string): Promise<void> {
  const { metadata, spec } = object['spec'].template;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'judged', namespace },
    // What names classes and priorities is not there in this cluster.
    spec: { ...spec, priorityClassName: undefined, runtimeClassName: undefined },
  };
  const answer = await ask(
    plane,
    'POST',
    `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
    pod,
  );
  assert.equal(answer.status, 201, `pod of ${what}: ${JSON.stringify(answer.body).slice(0, 2_000)}`);
  assert.deepEqual(answer.warnings, [], `pod of ${what}`);
}
