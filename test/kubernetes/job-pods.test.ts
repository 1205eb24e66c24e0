import assert from 'node:assert/strict';
import { cronJobs, events } from '../../services/scoring-operator/kubernetes/api.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase } from '../support/database.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { sampleProgram } from '../support/kubernetes/programs.js';
import { ask } from '../support/kubernetes/raw.js';

interface Template {
  readonly metadata: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly containers: readonly Readonly<Record<string, unknown>>[];
  };
}

interface CronJob {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly jobTemplate: { readonly spec: { readonly template: Template } } };
}

describe('pods of Jobs as the operator was told', () => {
  let space: TestNamespace;
  let tables: ClickHouseServer;
  let operator: OperatorProcess | undefined;

  before(async () => {
    space = await makeNamespace();
    tables = await serveClickHouse(await testDatabase());
  });
  after(async () => {
    await operator?.kill();
    await tables?.close();
  });

  async function start(env: Readonly<Record<string, string>>): Promise<void> {
    await operator?.end();
    operator = await startOperatorProcess(space, {
      CLICKHOUSE_URL: tables.url,
      LEADER_LEASE_SECONDS: '60',
      // Short: what is there is compared with what shall be, again and again.
      RELIST_SECONDS: '2',
      ...env,
    });
  }
  const cronJob = (): Promise<CronJob | undefined> => space.api.get(cronJobs, space.name, 'pods-score');
  async function templateOnce(is: (template: Template) => boolean, what: string): Promise<Template> {
    let found: Template | undefined;
    await eventually(
      async () => {
        found = (await cronJob())?.spec.jobTemplate.spec.template;
        return found !== undefined && is(found);
      },
      what,
      40_000,
    );
    return found as Template;
  }
  /** Reasons of the events of the program. */
  const reasons = async (): Promise<string[]> =>
    (await space.api.list<{ readonly reason: string }>(events, space.name)).items.map(({ reason }) => reason);
  /** What the API server says of a pod of that template, which is not made. */
  const tryPod = ({ metadata, spec }: Template) =>
    ask(space.plane, 'POST', `/api/v1/namespaces/${space.name}/pods?dryRun=All`, {
      metadata: { name: 'try', ...metadata },
      spec,
    });

  it('have it where the program does not say so, and are let in where only restricted pods are', async () => {
    await start({
      JOB_RESOURCES: '{"requests":{"cpu":"0.5","memory":"1024Mi"}}',
      JOB_POD_SECURITY_CONTEXT: '{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}',
      JOB_TOLERATIONS: '[{"key":"dedicated","operator":"Exists"}]',
      JOB_POD_LABELS: '{"team":"rollups"}',
      JOB_IMAGE_PULL_SECRETS: 'registry',
    });
    await space.create(sampleProgram('pods', { podTemplate: { nodeSelector: { pool: 'scoring' } } }));
    const template = await templateOnce(() => true, 'the CronJob');
    assert.equal(template.metadata.labels['team'], 'rollups');
    assert.deepEqual(template.spec['nodeSelector'], { pool: 'scoring' });
    assert.deepEqual(template.spec['securityContext'], {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.deepEqual(template.spec['imagePullSecrets'], [{ name: 'registry' }]);
    const { status, body, warnings } = await tryPod(template);
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(warnings, []);
  });

  it('are not taken for drift, although the API server writes them otherwise', async () => {
    const before = await cronJob();
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    assert.equal((await cronJob())?.metadata.generation, before?.metadata.generation);
    assert.equal((await reasons()).includes('DriftRepaired'), false);
  });

  it('have what the program says as soon as it says it', async () => {
    await space.patch('pods', { spec: { podTemplate: { resources: { limits: { memory: '3Gi' } } } } });
    const template = await templateOnce(
      ({ spec }) => JSON.stringify(spec.containers[0]?.['resources']).includes('3Gi'),
      'the limit of the program',
    );
    assert.equal(JSON.stringify(template.spec.containers[0]?.['resources']).includes('1Gi'), false);
  });

  it('change with the settings of the operator, which is no drift either', async () => {
    await start({ JOB_POD_ANNOTATIONS: '{"example.org/note":"other"}', JOB_PRIORITY_CLASS: 'high' });
    const template = await templateOnce(
      ({ metadata }) => metadata.annotations !== undefined,
      'the annotation',
    );
    assert.deepEqual(template.metadata.annotations, { 'example.org/note': 'other' });
    assert.equal(template.metadata.labels['team'], undefined);
    assert.equal(template.spec['priorityClassName'], 'high');
    assert.equal(Object.hasOwn(template.spec, 'tolerations'), false);
    assert.equal((await reasons()).includes('DriftRepaired'), false);
  });
});
