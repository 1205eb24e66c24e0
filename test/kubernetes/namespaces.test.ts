import assert from 'node:assert/strict';
import { type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node';
import { createLog } from '../../services/common/runtime/log.js';
import { createKubeApi, cronJobs } from '../../services/scoring-operator/kubernetes/api.js';
import { acquireLease, leaseTimes } from '../../services/scoring-operator/kubernetes/lease.js';
import { leaseName } from '../../services/scoring-operator/operator/environment.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase } from '../support/database.js';
import type { CronJob } from '../support/kubernetes/cron-job.js';
import { shipped } from '../support/kubernetes/install.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { sampleProgram, sampleSpec } from '../support/kubernetes/programs.js';

const rbac = 'rbac.authorization.k8s.io';

describe('an operator of several namespaces', () => {
  let home: TestNamespace;
  let far: TestNamespace;
  let other: TestNamespace;
  let tables: ClickHouseServer;
  let operator: OperatorProcess | undefined;
  let objects: KubernetesObjectApi;
  const ofCluster: KubernetesObject[] = [];

  before(async () => {
    [home, far, other] = [await makeNamespace(), await makeNamespace(), await makeNamespace()];
    objects = KubernetesObjectApi.makeApiClient(home.plane.config());
    tables = await serveClickHouse(await testDatabase());
    // The operator of one namespace works in another, and Jobs of the other take Leases in the operator's.
    await bind(far.name, 'weft-scoring-operator', home.name);
    await bind(home.name, 'weft-scoring-job', far.name);
  });
  after(async () => {
    await operator?.kill();
    for (const one of ofCluster) await objects.delete(one);
    await tables?.close();
  });
  afterEach(async () => {
    // It gives its Lease back, so that the next need not wait for it.
    if (operator?.child.exitCode === null) await operator.end();
    operator = undefined;
  });

  /** Gives the role of that name in a namespace to the account of that name in another one. */
  async function bind(namespace: string, name: string, from: string): Promise<void> {
    await objects.create({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: `${name}-of-${from}`, namespace },
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: from }],
    } as KubernetesObject);
  }
  async function start(env: Readonly<Record<string, string>>): Promise<OperatorProcess> {
    operator = await startOperatorProcess(home, {
      CLICKHOUSE_URL: tables.url,
      LEADER_LEASE_SECONDS: '60',
      ...env,
    });
    return operator;
  }
  const cronJob = ({ api, name }: TestNamespace, program: string): Promise<CronJob | undefined> =>
    api.get(cronJobs, name, `${program}-score`);
  const leaseNamespace = async (space: TestNamespace, program: string): Promise<string | undefined> =>
    (await cronJob(space, program))?.spec.jobTemplate.spec.template.spec.containers[0]?.env.find(
      ({ name }) => name === 'LEASE_NAMESPACE',
    )?.value;

  it('sees to the programs of those that are named, and to no others', async () => {
    const running = await start({ WATCH_NAMESPACES: `${home.name}, ${far.name}` });
    for (const space of [home, far, other]) await space.create(sampleProgram('named'));
    for (const space of [home, far]) {
      await eventually(
        async () => (await cronJob(space, 'named')) !== undefined,
        'the CronJob',
        30_000,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${running.output().slice(-2_000)}`);
      });
      assert.equal(await leaseNamespace(space, 'named'), home.name, 'one Lease for both');
      await eventually(
        async () => (await space.get('named'))?.status?.conditions !== undefined,
        'the status',
        20_000,
      );
    }
    assert.equal(await cronJob(other, 'named'), undefined);
    assert.equal((await other.get('named'))?.metadata.finalizers, undefined);
  });

  it('has one Lease for a signer, wherever its programs are', async () => {
    const options = (space: TestNamespace, identity: string) => ({
      api: createKubeApi(space.plane.config(space.jobToken)),
      namespace: home.name,
      name: leaseName(sampleSpec.chainId, sampleSpec.signer.address),
      identity,
      times: leaseTimes(30),
      log: createLog('silent'),
    });
    const first = await acquireLease(options(home, 'a Job here'), 5_000);
    assert.ok(first);
    assert.equal(await acquireLease(options(far, 'a Job there'), 2_000), undefined, 'it waits');
    await first.release();
    const second = await acquireLease(options(far, 'a Job there'), 30_000);
    assert.ok(second);
    await second.release();
  });

  it('sees to all, and keeps the Leases of signers where it is told', async () => {
    const [operatorRole] = shipped('rbac/operator.yaml');
    const name = `operator-of-all-${home.name}`;
    ofCluster.push(
      { ...operatorRole, kind: 'ClusterRole', metadata: { name } } as KubernetesObject,
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name: 'weft-scoring-operator', namespace: home.name }],
      } as KubernetesObject,
    );
    for (const one of ofCluster) await objects.create(one);
    await start({ WATCH_NAMESPACES: 'all', JOB_LEASE_NAMESPACE: other.name });
    await eventually(async () => (await cronJob(other, 'named')) !== undefined, 'the CronJob', 60_000);
    assert.equal(await leaseNamespace(other, 'named'), other.name);
    await eventually(
      async () => (await leaseNamespace(far, 'named')) === other.name,
      'the namespace of the Lease to be changed',
      30_000,
    );
  });

  it('says at once what cannot be a namespace', async () => {
    const refused = await start({ WATCH_NAMESPACES: 'good,Not_Good', JOB_LEASE_NAMESPACE: '-' });
    await eventually(() => refused.child.exitCode !== null, 'it to end', 20_000);
    assert.equal(refused.child.exitCode, 1);
    assert.match(refused.output(), /WATCH_NAMESPACES.*JOB_LEASE_NAMESPACE/s);
  });
});
