import assert from 'node:assert/strict';
import { cronJobs, events } from '../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import type { Condition, ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase } from '../support/database.js';
import type { CronJob, PodSpec } from '../support/kubernetes/cron-job.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { sampleProgram } from '../support/kubernetes/programs.js';
import { ask } from '../support/kubernetes/raw.js';

type Template = CronJob['spec']['jobTemplate']['spec']['template'];

const secret = 'hunter22-is-a-secret';
/** Every part that may be told of the pods of Jobs, in the words of the API server. */
const told = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: {
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: { matchLabels: { 'vip.weft.dev/phase': 'score' } },
          },
        },
      ],
    },
  },
  dnsConfig: { nameservers: ['10.0.0.53'], searches: ['a.test'], options: [{ name: 'ndots', value: '2' }] },
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['node', 'node.test'] }],
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
};
const env = [
  { name: 'PASSWORD', value: secret },
  { name: 'LATER', value: '$(PASSWORD) and $$(more)' },
  { name: 'NODE_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
  { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'none', key: 'token', optional: true } } },
];
const envFrom = [{ configMapRef: { name: 'proxies', optional: true } }, { secretRef: { name: 'more' } }];
const volumes = [
  { name: 'store', csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true } },
  { name: 'cache', emptyDir: { sizeLimit: '1Gi' } },
];
const mounts = [
  { name: 'store', mountPath: '/mnt/store', readOnly: true },
  { name: 'cache', mountPath: '/mnt/cache' },
];

describe('pods of Jobs with all that may be told of them', () => {
  let space: TestNamespace;
  let tables: ClickHouseServer;
  let operator: OperatorProcess | undefined;
  let output = '';
  const classes = { runtime: '', priority: '' };

  before(async () => {
    space = await makeNamespace();
    tables = await serveClickHouse(await testDatabase());
    // A pod is let in only with classes that are there.
    for (const kind of ['runtime', 'priority'] as const) {
      classes[kind] = `${kind}-${space.name}`;
      const [path, more] =
        kind === 'runtime'
          ? ['/apis/node.k8s.io/v1/runtimeclasses', { handler: 'runsc' }]
          : ['/apis/scheduling.k8s.io/v1/priorityclasses', { value: 7 }];
      const made = await ask(space.plane, 'POST', path, { metadata: { name: classes[kind] }, ...more });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
  });
  after(async () => {
    await operator?.kill();
    await tables?.close();
  });

  const settings = (): Record<string, string> => ({
    JOB_AFFINITY: JSON.stringify(told.affinity),
    JOB_PRIORITY_CLASS: classes.priority,
    JOB_RUNTIME_CLASS: classes.runtime,
    JOB_SCHEDULER: 'volcano',
    JOB_DNS_POLICY: 'None',
    JOB_DNS_CONFIG: JSON.stringify(told.dnsConfig),
    JOB_HOST_ALIASES: JSON.stringify(told.hostAliases),
    JOB_TOLERATIONS: '[{"key":"dedicated","operator":"Exists"}]',
    JOB_POD_SECURITY_CONTEXT: JSON.stringify(told.securityContext),
    JOB_RESOURCES: '{"requests":{"cpu":"0.5","memory":"1024Mi"}}',
    JOB_POD_LABELS: '{"team":"rollups"}',
    JOB_IMAGE_PULL_SECRETS: 'registry',
    JOB_EXTRA_ENV: JSON.stringify(env),
    JOB_EXTRA_ENV_FROM: JSON.stringify(envFrom),
    JOB_EXTRA_VOLUMES: JSON.stringify(volumes),
    JOB_EXTRA_VOLUME_MOUNTS: JSON.stringify(mounts),
  });
  async function start(more: Readonly<Record<string, string>>): Promise<void> {
    await operator?.end();
    output += operator?.output() ?? '';
    operator = await startOperatorProcess(space, {
      CLICKHOUSE_URL: tables.url,
      LEADER_LEASE_SECONDS: '60',
      RELIST_SECONDS: '2',
      ...settings(),
      ...more,
    });
  }
  const cronJob = (name = 'all-score'): Promise<CronJob | undefined> =>
    space.api.get(cronJobs, space.name, name);
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
  const condition = async (type: string, name = 'all'): Promise<Condition | undefined> =>
    (await space.api.get<ScoringProgram>(programs, space.name, name))?.status?.conditions?.find(
      (one) => one.type === type,
    );
  const allEvents = async () => (await space.api.list<{ readonly reason: string }>(events, space.name)).items;

  const hasWhatWasTold = (spec?: PodSpec): void => {
    for (const [field, value] of Object.entries(told))
      assert.deepEqual(spec?.[field as keyof PodSpec], value, field);
  };

  it('are made as they were told', async () => {
    await start({});
    await space.create(sampleProgram('all', { podTemplate: { nodeSelector: { pool: 'scoring' } } }));
    const { metadata, spec } = await templateOnce(() => true, 'the CronJob');
    const [container] = spec.containers;
    hasWhatWasTold(spec);
    assert.equal(spec.dnsPolicy, 'None');
    assert.equal(spec.runtimeClassName, classes.runtime);
    assert.equal(spec.schedulerName, 'volcano');
    assert.deepEqual(container?.env.slice(-env.length), env);
    assert.deepEqual(container?.envFrom, envFrom);
    assert.deepEqual(container?.volumeMounts.slice(-mounts.length), mounts);
    assert.deepEqual(spec.volumes.slice(-volumes.length), volumes);
    assert.deepEqual(spec.nodeSelector, { pool: 'scoring' });
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }]);
    assert.equal(metadata.labels['team'], 'rollups');
    const path = `/api/v1/namespaces/${space.name}/pods?dryRun=All`;
    const pod = await ask(space.plane, 'POST', path, { metadata: { ...metadata, name: 'try' }, spec });
    assert.equal(pod.status, 201, JSON.stringify(pod.body));
    assert.deepEqual(pod.warnings, []);
  });

  it('are let in where only restricted pods are, by the controllers too', async () => {
    const found = await cronJob();
    const { spec } = found?.spec.jobTemplate ?? assert.fail();
    const base = `/apis/batch/v1/namespaces/${space.name}/jobs`;
    const made = await ask(space.plane, 'POST', base, { metadata: { name: 'by-hand' }, spec });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.deepEqual(made.warnings, []);
    const path = `/api/v1/namespaces/${space.name}/pods?labelSelector=job-name%3Dby-hand`;
    let pod: { readonly spec: PodSpec } | undefined;
    await eventually(
      async () => {
        pod = (await ask(space.plane, 'GET', path)).body.items[0];
        return pod !== undefined;
      },
      'the pod of the Job',
      40_000,
    );
    hasWhatWasTold(pod?.spec);
    assert.equal(pod?.spec.runtimeClassName, classes.runtime);
    assert.equal(pod?.spec.priority, 7);
    const names = pod?.spec.volumes.map(({ name }) => name) ?? [];
    assert.ok(names.includes('store') && names.includes('signer'));
  });

  it('are not taken for drift, although the API server adds to them', async () => {
    const before = await cronJob();
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    assert.equal((await cronJob())?.metadata.generation, before?.metadata.generation);
    assert.ok(!(await allEvents()).some(({ reason }) => reason === 'DriftRepaired'));
  });

  it('change with the settings, which is no drift either', async () => {
    const [first, ...others] = env;
    await start({
      JOB_EXTRA_ENV: JSON.stringify([...others, { name: 'NEW', value: 'x' }, first]),
      JOB_EXTRA_VOLUMES: JSON.stringify(volumes.slice(1)),
      JOB_EXTRA_VOLUME_MOUNTS: JSON.stringify(mounts.slice(1)),
      JOB_HOST_ALIASES: '[]',
      JOB_DNS_POLICY: '',
      JOB_DNS_CONFIG: '',
      JOB_EXTRA_ENV_FROM: '',
      JOB_TOLERATIONS: '',
      JOB_POD_LABELS: '',
      JOB_POD_ANNOTATIONS: '{"example.org/note":"other"}',
    });
    const isChanged = ({ spec }: Template): boolean => !spec.volumes.some(({ name }) => name === 'store');
    const { metadata, spec } = await templateOnce(isChanged, 'the change');
    assert.equal(spec.dnsPolicy, 'ClusterFirst');
    for (const field of ['dnsConfig', 'hostAliases', 'tolerations'])
      assert.equal(Object.hasOwn(spec, field), false, field);
    assert.equal(Object.hasOwn(spec.containers[0] as object, 'envFrom'), false);
    assert.equal(spec.containers[0]?.env.at(-2)?.name, 'NEW');
    assert.equal(metadata.labels['team'], undefined);
    assert.deepEqual(metadata.annotations, { 'example.org/note': 'other' });
    assert.ok(!(await allEvents()).some(({ reason }) => reason === 'DriftRepaired'));
  });

  it('have what the program chooses', async () => {
    await space.patch('all', {
      spec: {
        podTemplate: {
          runtimeClassName: 'own',
          schedulerName: 'own-too',
          resources: { limits: { memory: '3Gi' } },
        },
      },
    });
    const { spec } = await templateOnce((template) => template.spec.runtimeClassName === 'own', 'the class');
    assert.equal(spec.schedulerName, 'own-too');
    assert.deepEqual(spec.affinity, told.affinity);
    const resources = JSON.stringify(spec.containers[0]?.resources);
    assert.ok(resources.includes('3Gi') && !resources.includes('1Gi'), resources);
  });

  it('are told to be refused where a field lies deep and is misspelt', async () => {
    const misspelt = JSON.stringify(told.affinity).replace('matchExpressions', 'matchExpresions');
    await start({ JOB_AFFINITY: misspelt });
    await eventually(
      async () => (await condition('Degraded'))?.reason === 'ChildRefused',
      'the condition',
      40_000,
    );
    const degraded = await condition('Degraded');
    assert.match(
      degraded?.message ?? '',
      /apply cronjobs .*all-score: .*matchExpresions: field not declared/,
    );
    assert.equal((await condition('Ready'))?.reason, 'ChildRefused');
    assert.ok((await allEvents()).some(({ reason }) => reason === 'ChildRefused'));
    // What was there goes on, and can still be stopped.
    assert.deepEqual((await cronJob())?.spec.jobTemplate.spec.template.spec.affinity, told.affinity);
    await space.patch('all', { spec: { suspend: true } });
    await eventually(async () => (await cronJob())?.spec.suspend === true, 'the end of it', 40_000);
    await space.patch('all', { spec: { suspend: false } });
  });

  it('are told to be refused where a variable has two values, and to be well again', async () => {
    const both = { name: 'BOTH', value: secret, valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } };
    await start({ JOB_EXTRA_ENV: JSON.stringify([...env, both]) });
    await space.create(sampleProgram('second'));
    await eventually(
      async () =>
        /valueFrom: .* may not be specified when `value`/.test(
          (await condition('Degraded', 'second'))?.message ?? '',
        ),
      'the condition',
      40_000,
    );
    assert.equal(await cronJob('second-score'), undefined);
    await start({});
    await eventually(
      async () => (await condition('Degraded', 'second'))?.status === 'False',
      'all to be well',
      40_000,
    );
    assert.notEqual(await cronJob('second-score'), undefined);
  });

  it('keep what variables hold out of logs, events and conditions', async () => {
    output += operator?.output() ?? '';
    assert.match(output, /field not declared in schema/);
    const shown = [output, JSON.stringify(await allEvents())];
    for (const name of ['all', 'second'])
      shown.push(JSON.stringify(await space.api.get(programs, space.name, name)));
    for (const text of shown) assert.equal(text.includes(secret), false);
    assert.ok(JSON.stringify(await cronJob()).includes(secret), 'the CronJob has it');
  });

  it('are told before anything begins where the settings are wrong', async () => {
    await start({ JOB_EXTRA_ENV: JSON.stringify([...env, { name: 'PRIVATE_KEY_FILE', value: secret }]) });
    const code = await new Promise<number | null>((resolve) => operator?.child.once('exit', resolve));
    assert.equal(code, 1);
    assert.match(operator?.output() ?? '', /JOB_EXTRA_ENV is \(not shown\): must not have PRIVATE_KEY_FILE/);
    assert.equal((operator?.output() ?? '').includes(secret), false);
  });
});
