import assert from 'node:assert/strict';
import { CoreV1Api } from '@kubernetes/client-node';
import {
  ApiError,
  createKubeApi,
  cronJobs,
  events,
  jobs,
  leases,
} from '../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase } from '../support/database.js';
import type { CronJob } from '../support/kubernetes/cron-job.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { sampleProgram } from '../support/kubernetes/programs.js';

describe('several operators, and faults around them', () => {
  let space: TestNamespace;
  let tables: ClickHouseServer;
  const started: OperatorProcess[] = [];

  before(async () => {
    space = await makeNamespace();
    tables = await serveClickHouse(await testDatabase());
  });
  after(async () => {
    for (const one of started) await one.kill();
    await tables?.close();
  });

  const startOne = async (): Promise<OperatorProcess> => {
    const one = await startOperatorProcess(space, { CLICKHOUSE_URL: tables.url });
    started.push(one);
    return one;
  };
  const isLeading = async (one: OperatorProcess): Promise<boolean> =>
    (await one.metric('weft_operator_leader')) === 1;
  const leaderOf = async (some: readonly OperatorProcess[]): Promise<OperatorProcess> => {
    let found: OperatorProcess | undefined;
    await eventually(
      async () => {
        const leading = await Promise.all(some.map(isLeading));
        assert.ok(leading.filter(Boolean).length <= 1, 'two lead at once');
        found = some[leading.indexOf(true)];
        return found !== undefined && (await found.ready());
      },
      'a leader',
      30_000,
    );
    return found as OperatorProcess;
  };
  const cronJob = (name: string): Promise<CronJob | undefined> => space.api.get(cronJobs, space.name, name);

  it('one leads; after kill -9 the other takes over, and nothing is made twice', async () => {
    const pair = await Promise.all([startOne(), startOne()]);
    const first = await leaderOf(pair);
    const second = pair.find((one) => one !== first) as OperatorProcess;
    await eventually(() => second.ready(), 'the one that waits to be ready');
    await space.create(sampleProgram('led'));
    await eventually(async () => (await cronJob('led-finalize')) !== undefined, 'the CronJobs');
    const before = await cronJob('led-score');
    await first.kill();
    assert.equal(await leaderOf([second]), second);
    // Changed while nobody led: the new leader sees to it.
    await space.patch('led', { spec: { suspend: true } });
    await eventually(
      async () => (await cronJob('led-score'))?.spec.suspend === true,
      'the new leader to act',
    );
    assert.equal((await cronJob('led-score'))?.metadata.uid, before?.metadata.uid);
    const all = await space.api.list<CronJob>(cronJobs, space.name);
    assert.deepEqual(all.items.map(({ metadata }) => metadata.name).sort(), ['led-finalize', 'led-score']);
    const told = await space.api.list<{ readonly note: string; readonly reason: string }>(events, space.name);
    const texts = told.items.map(({ note, reason }) => `${reason} ${note}`);
    assert.equal(new Set(texts).size, texts.length, 'an event is there twice');
  });

  it('hands over at once when it is told to end', async () => {
    const leader = await leaderOf(
      started.filter(({ child }) => child.exitCode === null && child.signalCode === null),
    );
    const next = await startOne();
    await eventually(() => next.ready(), 'the next one');
    const asked = Date.now();
    assert.equal(await leader.end(), 0, leader.output().slice(-2_000));
    await leaderOf([next]);
    assert.ok(Date.now() - asked < 8_000, 'it waited for the Lease to run out');
  });

  it('ends when it cannot hold its leadership, and recovers with the API server', async () => {
    const leader = await leaderOf(
      started.filter(({ child }) => child.exitCode === null && child.signalCode === null),
    );
    await space.plane.killApiserver();
    await eventually(() => leader.child.exitCode !== null, 'the leader to end', 15_000);
    assert.equal(leader.child.exitCode, 1);
    // As its pod would be started again, while the API server is still away.
    const next = await startOne();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await space.plane.startApiserver();
    await leaderOf([next]);
    await space.patch('led', { spec: { suspend: false } });
    await eventually(
      async () => (await cronJob('led-score'))?.spec.suspend === false,
      'the operator to act again',
      30_000,
    );
  });

  it('goes on after an outage that is shorter than its leadership lasts', async () => {
    const leader = await startOperatorProcess(
      await makeNamespace().then((fresh) => {
        space = fresh;
        return fresh;
      }),
      { CLICKHOUSE_URL: tables.url, LEADER_LEASE_SECONDS: '60' },
    );
    started.push(leader);
    await leaderOf([leader]);
    await space.create(sampleProgram('outlives'));
    await eventually(async () => (await cronJob('outlives-score')) !== undefined, 'the CronJobs');
    await space.plane.killApiserver();
    await space.plane.startApiserver();
    await space.patch('outlives', { spec: { suspend: true } });
    await eventually(
      async () => (await cronJob('outlives-score'))?.spec.suspend === true,
      'the watch to have come back',
      40_000,
    );
    assert.equal(leader.child.exitCode, null);
    assert.ok(((await leader.metric('weft_operator_watch_restarts_total')) ?? 0) > 0);
  });

  describe('rights', () => {
    const as = (token: string) => createKubeApi(space.plane.config(token));
    const forbidden = async (work: Promise<unknown>, what: string): Promise<void> => {
      await assert.rejects(work, (error: unknown) => {
        const status = error instanceof ApiError ? error.status : (error as { code?: number }).code;
        assert.equal(status, 403, what);
        return true;
      });
    };

    it('the operator may not read Secrets, nor pods, nor what is in other namespaces', async () => {
      const own = as(space.operatorToken);
      const core = space.plane.config(space.operatorToken).makeApiClient(CoreV1Api);
      const namespace = space.name;
      await space.core.createNamespacedSecret({
        namespace,
        body: { metadata: { name: 'signer' }, stringData: { privateKey: 'no' } },
      });
      await forbidden(core.readNamespacedSecret({ namespace, name: 'signer' }), 'a Secret');
      await forbidden(core.listNamespacedSecret({ namespace }), 'Secrets');
      await forbidden(core.listNamespacedPod({ namespace }), 'pods');
      await forbidden(core.listNamespacedConfigMap({ namespace }), 'all ConfigMaps');
      await forbidden(own.list(programs, 'default'), 'another namespace');
      await forbidden(own.create(jobs, namespace, { metadata: { name: 'a' } }), 'making Jobs');
      await forbidden(own.create(programs, namespace, sampleProgram('own')), 'making programs');
      const made = await space.get('outlives');
      await forbidden(own.remove(programs, namespace, 'outlives', made?.metadata.uid ?? ''), 'removing them');
    });

    it('a Job may take Leases, and nothing else', async () => {
      const own = as(space.jobToken);
      const core = space.plane.config(space.jobToken).makeApiClient(CoreV1Api);
      const namespace = space.name;
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'mine' } };
      await own.create(leases, namespace, lease);
      await forbidden(core.readNamespacedSecret({ namespace, name: 'signer' }), 'a Secret');
      await forbidden(own.list(leases, namespace), 'all Leases');
      await forbidden(own.list(programs, namespace), 'programs');
      await forbidden(own.list(cronJobs, namespace), 'CronJobs');
      await forbidden(own.get(leases, 'default', 'mine'), 'another namespace');
    });
  });
});
