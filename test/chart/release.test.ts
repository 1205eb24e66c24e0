import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { eventually } from '../support/block.js';
import { installForeignCrds } from '../support/chart/foreign-crds.js';
import { chart, helmAside, type Rendered, valuesFile, writeValues } from '../support/chart/helm.js';
import { labelled } from '../support/chart/leftovers.js';
import { type PreviousChart, previousChart } from '../support/chart/previous.js';
import { type ControlPlane, controlPlane } from '../support/kubernetes/control-plane.js';
import { type PretendNode, pretendNode } from '../support/kubernetes/pretend.js';
import { ask } from '../support/kubernetes/raw.js';

const namespace = 'rollups';
const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/scoringprograms.vip.weft.dev';
const programs = `/apis/vip.weft.dev/v1alpha1/namespaces/${namespace}/scoringprograms`;
const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
const statefulSets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;

const program = {
  bridgeId: 5,
  contract: { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3' },
  signer: { address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', secretRef: { name: 'scoring-signer' } },
  endpoints: { l1: { urls: ['https://rest.l1.example'], module: '0x1' } },
  policy: { builtin: 'tx-count' },
  score: { schedule: '*/15 * * * *' },
  finalize: { schedule: '*/10 * * * *' },
};

describe('T2: a release, where pods only pretend', function () {
  this.timeout(300_000);
  let plane: ControlPlane;
  let node: PretendNode;
  let previous: PreviousChart;
  let kubeconfig: string;
  let uid: string;
  const minimal = valuesFile('minimal');
  const first = writeValues({ scoringPrograms: { main: program } });
  // No load balancer gets an address here, and what KEDA would do nobody does.
  const later = writeValues({
    gateway: { service: { type: 'ClusterIP', externalTrafficPolicy: '', loadBalancerSourceRanges: [] } },
    scoringPrograms: { main: { stopAtStage: 9 } },
  });
  const run = (...args: string[]) => helmAside(args, kubeconfig);
  const succeed = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await run(...args);
    assert.equal(status, 0, `helm ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  };
  const waiting = ['--namespace', namespace, '--wait', '--timeout', '2m'];
  const values = (...files: string[]) => files.flatMap((file) => ['--values', file]);
  const get = async (path: string) => (await ask(plane, 'GET', path)).body;
  /** Everything that has pods, but for Jobs. */
  const workloads = async () => [...(await get(deployments)).items, ...(await get(statefulSets)).items];
  const namesOf = (items: { metadata: { name: string } }[]): string[] =>
    items.map(({ metadata }) => metadata.name).sort();
  const writers = ['block', 'nft', 'richlist', 'tx'].map((name) => `weft-${name}-ingest`);

  before(async () => {
    plane = await controlPlane();
    await installForeignCrds(plane);
    // The tests of the operator bring it; here the chart does.
    await ask(plane, 'DELETE', crdPath);
    await eventually(
      async () => (await ask(plane, 'GET', crdPath)).status === 404,
      'the custom resource to go',
    );
    node = await pretendNode(plane);
    previous = previousChart(plane.folder);
    kubeconfig = plane.kubeconfig(plane.config().getCurrentUser()?.token as string);
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await ask(plane, 'POST', '/api/v1/namespaces', { metadata: { name: namespace, labels } });
  });
  after(() => node?.stop());

  it('is installed, with a program of a kind that it brings itself', async () => {
    const notes = await succeed('install', 'weft', previous.path, ...waiting, ...values(minimal, first));
    assert.match(notes, /helm -n rollups test weft/);
    assert.match(notes, /describe scoringprogram main/);
    const items = await workloads();
    assert.equal(items.length, 10);
    for (const { metadata, spec, status } of items)
      assert.equal(status.availableReplicas, spec.replicas, metadata.name);
    const { hooks } = JSON.parse(
      await succeed('status', 'weft', '--namespace', namespace, '--output', 'json'),
    );
    const migrate = hooks.find(
      ({ kind, name }: Record<string, string>) => kind === 'Job' && name === 'weft-migrate',
    );
    assert.equal(migrate.last_run.phase, 'Succeeded');
    await runHook('programs');
    const main = await get(`${programs}/main`);
    assert.equal(main.spec.chainId, 'rollup-1');
    assert.deepEqual(main.spec.endpoints.rollup.jsonRpcUrls, ['http://node:8545']);
    assert.equal(main.spec.clickhouse.secretRef.name, 'weft-clickhouse');
    uid = main.metadata.uid;
    // A person approves; no upgrade takes that back.
    const approved = { spec: { finalize: { approvedStage: 7 } } };
    const answer = await ask(plane, 'PATCH', `${programs}/main`, approved, 'application/merge-patch+json');
    assert.equal(answer.status, 200);
  });

  it('is well by helm test', async () => {
    assert.match(
      await succeed('test', 'weft', '--namespace', namespace, '--timeout', '1m'),
      /Phase:\s+Succeeded/,
    );
  });

  it('is upgraded from the version before, and its program with it', async () => {
    await succeed('upgrade', 'weft', chart, ...waiting, ...values(valuesFile('everything'), first, later));
    await runHook('programs');
    const main = await get(`${programs}/main`);
    assert.equal(main.metadata.uid, uid);
    assert.equal(main.spec.stopAtStage, 9);
    assert.equal(main.spec.finalize.approvedStage, 7);
    const had = previous.writers === 'Deployment';
    for (const { metadata, spec } of (await get(statefulSets)).items) {
      // Where Deployments wrote before, their pods have to be gone first.
      const [first] = spec.template.spec.initContainers ?? [];
      const waits = first?.name === 'wait-for-deployment' ? first.args : undefined;
      assert.deepEqual(waits, had ? ['--eval', 'setTimeout(() => {}, 40_000)'] : undefined, metadata.name);
    }
    assert.deepEqual(namesOf((await get(statefulSets)).items), writers);
    assert.deepEqual(
      namesOf((await get(deployments)).items).filter((name) => name.endsWith('-ingest')),
      [],
    );
    for (const { spec } of await workloads())
      assert.match(spec.template.spec.containers[0].image, /:0\.1\.0$/);
    const crd = await get(crdPath);
    assert.equal(crd.metadata.labels['helm.sh/chart'], 'weft-0.1.0');
  });

  it('stays as it is where tables cannot be migrated', async () => {
    const before = await get(`${deployments}/weft-tx`);
    node.hold('migrate');
    const { status, stderr } = await run(
      ...['upgrade', 'weft', chart, ...waiting, ...values(valuesFile('everything'), first, later)],
      ...['--set', 'migrations.activeDeadlineSeconds=1,migrations.backoffLimit=0,image.tag=broken'],
    );
    node.hold(undefined);
    assert.notEqual(status, 0);
    assert.match(stderr, /pre-upgrade hooks failed/);
    const after = await get(`${deployments}/weft-tx`);
    // The autoscaler may have changed the number of pods meanwhile.
    assert.deepEqual(after.spec.template, before.spec.template);
  });

  it('is rolled back to its first revision, and loses no program', async () => {
    await succeed('rollback', 'weft', '1', ...waiting);
    const items = await workloads();
    assert.equal(items.length, 10);
    const { items: writing } = await get(previous.writers === 'Deployment' ? deployments : statefulSets);
    assert.deepEqual(
      namesOf(writing).filter((name) => name.endsWith('-ingest')),
      writers,
    );
    for (const { metadata, spec, status } of items) {
      assert.ok(spec.template.spec.containers[0].image.endsWith(`:${previous.appVersion}`), metadata.name);
      assert.equal(status.availableReplicas, spec.replicas, metadata.name);
    }
    await runHook('programs');
    const main = await get(`${programs}/main`);
    assert.equal(main.metadata.uid, uid);
    assert.equal(main.spec.stopAtStage, undefined);
    assert.equal(main.spec.finalize.approvedStage, 7);
  });

  it('is upgraded once more after that', async () => {
    await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    await runHook('programs');
    assert.equal((await get(`${programs}/main`)).metadata.uid, uid);
    // Nobody waits for Deployments that are gone.
    await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    const { items } = await get(statefulSets);
    assert.deepEqual(namesOf(items), writers);
    for (const { spec } of items) assert.equal(spec.template.spec.initContainers, undefined);
  });

  it('starts a writer only after the one before is gone', async () => {
    const pod = `/api/v1/namespaces/${namespace}/pods/weft-tx-ingest-0`;
    const before = (await get(pod)).metadata.uid;
    const kept = { metadata: { finalizers: ['example.org/kept'] } };
    await ask(plane, 'PATCH', pod, kept, 'application/merge-patch+json');
    await ask(plane, 'DELETE', pod);
    await eventually(async () => (await get(pod)).metadata.deletionTimestamp !== undefined, 'the pod to end');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const selector = encodeURIComponent('app.kubernetes.io/component=tx-ingest');
    const { items } = await get(`/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`);
    assert.deepEqual(namesOf(items), ['weft-tx-ingest-0']);
    assert.equal(items[0].metadata.uid, before);
    const freed = { metadata: { finalizers: [] } };
    await ask(plane, 'PATCH', pod, freed, 'application/merge-patch+json');
    await eventually(
      async () => {
        const { metadata, status } = await get(pod);
        return metadata !== undefined && metadata.uid !== before && status.phase === 'Running';
      },
      'another pod',
      60_000,
    );
  });

  it('is rendered also for who has no rights beyond a namespace', async () => {
    const account = { metadata: { name: 'tenant' } };
    await ask(plane, 'POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, account);
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    // Of a person who may do everything but know of programs.
    const apiGroups = ['', 'apps', 'batch', 'policy', 'networking.k8s.io', 'rbac.authorization.k8s.io'];
    await ask(plane, 'POST', `${rbac}/roles`, {
      metadata: { name: 'tenant' },
      rules: [{ apiGroups, resources: ['*'], verbs: ['*'] }],
    });
    await ask(plane, 'POST', `${rbac}/rolebindings`, {
      metadata: { name: 'tenant' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'tenant' },
      subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
    });
    const { body } = await ask(
      plane,
      'POST',
      `/api/v1/namespaces/${namespace}/serviceaccounts/tenant/token`,
      { spec: { expirationSeconds: 600 } },
    );
    const asTenant = (...more: string[]) =>
      helmAside(
        [
          ...['install', 'tenant', chart, '--namespace', namespace, '--dry-run=server'],
          ...[...values(minimal), ...more],
        ],
        plane.kubeconfig(body.status.token),
      );
    const without = 'crds.enabled=false,scoringOperator.rbac.aggregateClusterRoles=false';
    for (const more of ['', ',scoringOperator.enabled=false', ',chain.vm=move,node.jsonRpc=']) {
      const { status, stderr } = await asTenant('--set', `${without}${more}`);
      assert.equal(status, 0, `${more}: ${stderr}`);
    }
    const ofMove = await asTenant('--set', 'chain.vm=move,node.jsonRpc=');
    assert.equal(ofMove.status, 0, ofMove.stderr);
    assert.match((await asTenant()).stderr, /customresourcedefinitions.* forbidden/);
  });

  it('is paused where that is wanted, without a fault, and goes on', async () => {
    const paused = ['--set', 'services.tx.ingest.replicas=0,services.block.ingest.replicas=0'];
    const notes = await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first), ...paused);
    assert.match(notes, /Paused, with 0 replicas: block-ingest, tx-ingest/);
    assert.equal((await get(`${statefulSets}/weft-tx-ingest`)).spec.replicas, 0);
    assert.equal((await get(`${deployments}/weft-tx`)).status.availableReplicas, 2);
    await succeed('test', 'weft', '--namespace', namespace, '--timeout', '1m');
    await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    assert.equal((await get(`${statefulSets}/weft-tx-ingest`)).status.availableReplicas, 1);
  });

  it('has a second one beside it, to which the custom resource does not belong', async () => {
    const args = ['--namespace', 'other', '--create-namespace', '--wait', '--timeout', '2m'];
    await succeed('install', 'other', chart, ...args, ...values(minimal));
    const crd = await get(crdPath);
    assert.equal(crd.metadata.annotations['meta.helm.sh/release-name'], 'weft');
    await succeed('upgrade', 'other', chart, ...args, ...values(minimal), '--set', 'gateway.replicas=3');
    await succeed('uninstall', 'other', '--namespace', 'other', '--wait');
    assert.deepEqual(await left('other', 'other'), []);
  });

  it('hands the custom resource over to another release, and loses no program', async () => {
    const args = ['--namespace', 'other', '--create-namespace', '--wait', '--timeout', '2m'];
    const taking = ['--set', 'crds.takeOwnership=true'];
    const owner = async (): Promise<string[]> => {
      const { metadata } = await get(crdPath);
      return [metadata.annotations['meta.helm.sh/release-name'], metadata.uid];
    };
    const [, crd] = await owner();
    const refused = await run('install', 'other', chart, ...args, ...values(minimal), ...taking);
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, /invalid ownership metadata/);
    await succeed('install', 'other', chart, ...args, ...values(minimal), ...taking, '--take-ownership');
    assert.deepEqual(await owner(), ['other', crd]);
    // The one that had it keeps it, and leaves it alone from now on.
    const notes = await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    assert.doesNotMatch(notes, /is older than this version/);
    assert.deepEqual(await owner(), ['other', crd]);
    await runHook('programs');
    assert.equal((await get(`${programs}/main`)).metadata.uid, uid);

    // One that is older than this version is told of, until it is taken back.
    const { spec } = await get(crdPath);
    delete spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.podTemplate;
    const old = await ask(plane, 'PATCH', crdPath, { spec }, 'application/merge-patch+json');
    assert.equal(old.status, 200, JSON.stringify(old.body));
    const told = await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    assert.match(told, /is older than this version needs. It lacks:\s+spec.podTemplate\n/);
    // Helm 4 wants to be told that what another one has changed is to be changed back.
    const isOldHelm = (await succeed('version', '--short')).startsWith('v3.');
    const force = isOldHelm ? [] : ['--force-conflicts'];
    const back = [...values(minimal, first), ...taking, '--take-ownership', ...force];
    assert.doesNotMatch(await succeed('upgrade', 'weft', chart, ...waiting, ...back), /is older/);
    assert.deepEqual(await owner(), ['weft', crd]);
    assert.ok(
      (await get(crdPath)).spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.podTemplate,
    );
    await succeed('uninstall', 'other', '--namespace', 'other', '--wait');
    assert.deepEqual(await owner(), ['weft', crd]);
    await succeed('upgrade', 'weft', chart, ...waiting, ...values(minimal, first));
    assert.equal((await get(`${programs}/main`)).metadata.uid, uid);
  });

  it('deletes programs that left the values, then all, and none of others', async () => {
    const { metadata, spec } = await get(`${programs}/main`);
    const body = { apiVersion: 'vip.weft.dev/v1alpha1', kind: 'ScoringProgram', spec };
    for (const own of [{ name: 'stray', labels: metadata.labels }, { name: 'unrelated' }])
      assert.equal((await ask(plane, 'POST', programs, { ...body, metadata: own })).status, 201);
    await runHook('programs');
    assert.deepEqual(await names(), ['main', 'unrelated']);
    await runHook('drain');
    assert.deepEqual(await names(), ['unrelated']);
    await ask(plane, 'DELETE', `${programs}/unrelated`);
  });

  it('tells of programs that nobody can let go once the operator is off', async () => {
    const { spec } = await renderedProgram();
    const kept = { name: 'kept', finalizers: ['vip.weft.dev/drain'] };
    const body = { apiVersion: 'vip.weft.dev/v1alpha1', kind: 'ScoringProgram', metadata: kept, spec };
    assert.equal((await ask(plane, 'POST', programs, body)).status, 201);
    const off = ['--namespace', namespace, '--set', 'scoringOperator.enabled=false', '--dry-run=server'];
    const notes = await succeed('upgrade', 'weft', chart, ...values(minimal), ...off);
    assert.match(notes, /The scoring operator is off, and these programs are in this namespace: kept\./);
    const freed = { metadata: { finalizers: [] } };
    await ask(plane, 'PATCH', `${programs}/kept`, freed, 'application/merge-patch+json');
    await ask(plane, 'DELETE', `${programs}/kept`);
    const clean = await succeed('upgrade', 'weft', chart, ...values(minimal), ...off);
    assert.doesNotMatch(clean, /The scoring operator is off/);
  });

  it("touches no program of that name which is somebody else's", async () => {
    const { spec } = JSON.parse(JSON.stringify(await renderedProgram()));
    const body = {
      apiVersion: 'vip.weft.dev/v1alpha1',
      kind: 'ScoringProgram',
      metadata: { name: 'main' },
      spec,
    };
    assert.equal((await ask(plane, 'POST', programs, body)).status, 201);
    await assert.rejects(runHook('programs'), /somebody else's/);
    await ask(plane, 'DELETE', `${programs}/main`);
  });

  it('leaves only the custom resource behind', async () => {
    await succeed('uninstall', 'weft', '--namespace', namespace, '--wait');
    assert.deepEqual(await left('weft', namespace), [
      'CustomResourceDefinition scoringprograms.vip.weft.dev',
    ]);
  });

  it('is installed again over what was left', async () => {
    await succeed('install', 'weft', chart, ...waiting, ...values(minimal, first));
    await runHook('programs');
    assert.deepEqual(await names(), ['main']);
  });

  const names = async (): Promise<string[]> =>
    (await get(programs)).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort();

  /** What is left of a release once the controllers have cleaned up. */
  async function left(release: string, where: string): Promise<string[]> {
    const ofControllers = /^(Pod|ReplicaSet|EndpointSlice|Endpoints|ControllerRevision|Event) /;
    const list = () => labelled(plane, where, `app.kubernetes.io/instance=${release}`);
    await eventually(
      async () => !(await list()).some((one) => ofControllers.test(one)),
      'pods to be gone',
      90_000,
    );
    return list();
  }

  /** Hooks of the release as it is now. */
  async function hooks(): Promise<Rendered[]> {
    const text = await succeed('get', 'hooks', 'weft', '--namespace', namespace);
    return parseAllDocuments(text).map((document) => document.toJS() as Rendered);
  }

  async function renderedProgram(): Promise<Rendered> {
    const map = (await hooks()).find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'weft-programs',
    );
    const [document] = parseAllDocuments(map?.['data']['programs.yaml']).filter((one) => one.toJS() !== null);
    return document?.toJS() as Rendered;
  }

  /** Runs what the pod of a hook would run, with the account and the role that the hook makes. */
  async function runHook(name: string): Promise<void> {
    const objects = (await hooks()).filter(({ metadata }) => metadata.name === `weft-${name}`);
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    const paths: Record<string, string> = {
      ServiceAccount: `/api/v1/namespaces/${namespace}/serviceaccounts`,
      Role: `${rbac}/roles`,
      RoleBinding: `${rbac}/rolebindings`,
    };
    const made = objects.filter(({ kind }) => paths[kind] !== undefined);
    assert.equal(made.length, 3);
    for (const object of made)
      assert.equal((await ask(plane, 'POST', paths[object.kind] as string, object)).status, 201);
    const account = `${paths['ServiceAccount']}/weft-${name}`;
    const { body } = await ask(plane, 'POST', `${account}/token`, { spec: { expirationSeconds: 600 } });
    const file = join(plane.folder, 'programs.yaml');
    const map = objects.find(({ kind }) => kind === 'ConfigMap');
    if (map !== undefined) writeFileSync(file, map['data']['programs.yaml']);
    const [container] = objects.find(({ kind }) => kind === 'Job')?.['spec'].template.spec.containers ?? [];
    const args = (container.args as string[]).map((arg) =>
      arg.startsWith('/etc/weft/programs/') ? file : arg,
    );
    const { status, stderr } = spawnSync(process.execPath, [...args, '--namespace', namespace], {
      cwd: packageRoot,
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'] ?? '', KUBECONFIG: plane.kubeconfig(body.status.token) },
    });
    for (const { kind } of made) await ask(plane, 'DELETE', `${paths[kind]}/weft-${name}`);
    assert.equal(status, 0, stderr);
  }
});
