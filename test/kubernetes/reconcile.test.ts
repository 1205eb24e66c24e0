import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { BatchV1Api } from '@kubernetes/client-node';
import { cronJobs, events } from '../../services/scoring-operator/kubernetes/api.js';
import type { Condition, ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase } from '../support/database.js';
import type { CronJob } from '../support/kubernetes/cron-job.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { never, sampleProgram, sampleSpec } from '../support/kubernetes/programs.js';

describe('the operator makes of a program what it shall be', () => {
  let space: TestNamespace;
  let tables: ClickHouseServer;
  let operator: OperatorProcess;

  before(async () => {
    space = await makeNamespace();
    tables = await serveClickHouse(await testDatabase());
    // Nothing here is about leadership, which a busy machine would take away.
    operator = await startOperatorProcess(space, { CLICKHOUSE_URL: tables.url, LEADER_LEASE_SECONDS: '60' });
    await eventually(() => operator.ready(), 'the operator to be ready', 60_000);
  });
  after(async function () {
    const failed = this.test?.parent?.tests.some(({ state }) => state !== 'passed');
    if (failed) process.stdout.write(`${operator?.output().slice(-5_000)}\n`);
    await operator?.kill();
    await tables?.close();
  });

  const cronJob = (name: string): Promise<CronJob | undefined> => space.api.get(cronJobs, space.name, name);
  const children = async (program: string): Promise<{ score: CronJob; finalize: CronJob }> => {
    let found: (CronJob | undefined)[] = [];
    await eventually(async () => {
      found = await Promise.all([cronJob(`${program}-score`), cronJob(`${program}-finalize`)]);
      return found.every((one) => one !== undefined);
    }, `the CronJobs of ${program}`);
    const [score, finalize] = found as [CronJob, CronJob];
    return { score, finalize };
  };
  const condition = async (name: string, type: string): Promise<Condition | undefined> =>
    (await space.get(name))?.status?.conditions?.find((one) => one.type === type);
  const reason = (name: string, type: string, wanted: string): Promise<void> =>
    eventually(
      async () => (await condition(name, type))?.reason === wanted,
      `${type} of ${name} to be ${wanted}`,
      20_000,
    );
  const eventsOf = async (name: string, wanted: string) =>
    (
      await space.api.list<{
        readonly reason: string;
        readonly note: string;
        readonly regarding: { readonly name: string };
        readonly series?: { readonly count: number };
      }>(events, space.name)
    ).items.filter((event) => event.regarding.name === name && event.reason === wanted);

  it('makes two CronJobs that belong to it, with everything that a Job needs', async () => {
    const program = await space.create(sampleProgram('first'));
    const { score, finalize } = await children('first');
    for (const one of [score, finalize]) {
      const [owner] = one.metadata.ownerReferences ?? [];
      assert.deepEqual([owner?.uid, owner?.controller], [program.metadata.uid, true]);
      assert.equal(one.metadata.labels?.['app.kubernetes.io/managed-by'], 'scoring-operator');
      assert.match(one.metadata.annotations?.['vip.weft.dev/template-hash'] ?? '', /^[0-9a-f]{16}$/);
      const { spec } = one;
      assert.deepEqual(
        [spec.concurrencyPolicy, spec.timeZone, spec.startingDeadlineSeconds],
        ['Forbid', 'Etc/UTC', 600],
      );
      const job = spec.jobTemplate.spec;
      assert.deepEqual(
        job.podFailurePolicy.rules.map(({ action }) => action),
        ['FailJob', 'Ignore'],
      );
      const pod = job.template.spec;
      assert.deepEqual(
        [pod.restartPolicy, pod.serviceAccountName, pod.automountServiceAccountToken],
        ['Never', 'weft-scoring-job', false],
      );
      assert.ok(pod.terminationGracePeriodSeconds >= 60);
      const secrets = pod.volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName]));
      assert.deepEqual(secrets, ['signer']);
      const env = Object.fromEntries(pod.containers[0]!.env.map(({ name, value }) => [name, value]));
      assert.equal(env['SIGNER_ADDRESS'], sampleSpec.signer.address);
      assert.equal(env['PRIVATE_KEY_FILE'], '/etc/weft/signer/key');
      assert.equal(env['CLICKHOUSE_URL'], undefined, 'it is told by reference');
      assert.equal(JSON.parse(env['SCORING_PROGRAM_TEXT'] ?? '').contract, sampleSpec.contract.address);
    }
    assert.deepEqual(
      [score.spec.schedule, score.spec.suspend, score.spec.jobTemplate.spec.activeDeadlineSeconds],
      [never, false, 3600],
    );
    assert.deepEqual([finalize.spec.schedule, finalize.spec.suspend], [never, true]);
    assert.equal(score.spec.jobTemplate.spec.template.spec.containers[0]?.args.at(-1), 'score');
    const made = await space.get('first');
    assert.deepEqual(made?.metadata.finalizers, ['vip.weft.dev/drain']);
  });

  it('says that nothing answers, in conditions, a column and an event', async () => {
    await reason('first', 'ChainReachable', 'Unreachable');
    const made = (await space.get('first')) as ScoringProgram;
    const types = made.status?.conditions?.map(({ type }) => type);
    assert.deepEqual(types?.sort(), [
      ...['ChainReachable', 'Degraded', 'FinalizationPending', 'IndexerCaughtUp', 'Ready'],
      ...['ScoreUpToDate', 'SignerAuthorized', 'SignerFunded'],
    ]);
    assert.equal((await condition('first', 'Ready'))?.status, 'False');
    assert.equal(made.status?.observedGeneration, made.metadata.generation);
    assert.equal(made.status?.finalize?.suspended, true);
    await eventually(async () => (await eventsOf('first', 'Unreachable')).length > 0, 'an event');
    const changed = (await condition('first', 'Ready'))?.lastTransitionTime;
    const { resourceVersion } = made.metadata;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.equal((await condition('first', 'Ready'))?.lastTransitionTime, changed);
    assert.equal((await space.get('first'))?.metadata.resourceVersion, resourceVersion, 'nothing is written');
    const told = await eventsOf('first', 'Unreachable');
    assert.equal(new Set(told.map(({ note }) => note)).size, told.length, 'no event is there twice');
  });

  it('sets right what somebody else has changed, and says so', async () => {
    const before = await children('first');
    await space.api.merge(cronJobs, space.name, 'first-finalize', {
      spec: { suspend: false, concurrencyPolicy: 'Allow' },
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'somebody' } },
    });
    await space.api.merge(cronJobs, space.name, 'first-score', { spec: { schedule: '1 0 29 2 *' } });
    await eventually(async () => {
      const { score, finalize } = await children('first');
      return (
        finalize.spec.suspend &&
        finalize.spec.concurrencyPolicy === 'Forbid' &&
        finalize.metadata.labels?.['app.kubernetes.io/managed-by'] === 'scoring-operator' &&
        score.spec.schedule === never
      );
    }, 'the drift to be repaired');
    await eventually(async () => (await eventsOf('first', 'DriftRepaired')).length > 0, 'an event of it');
    await space.api.remove(cronJobs, space.name, 'first-score', before.score.metadata.uid);
    await eventually(
      async () =>
        ((await cronJob('first-score'))?.metadata.uid ?? before.score.metadata.uid) !==
        before.score.metadata.uid,
      'the CronJob to be made again',
    );
  });

  it('takes out what somebody else has added to what runs, and leaves the rest of the object alone', async () => {
    const times = async (): Promise<number> =>
      (await eventsOf('first', 'DriftRepaired')).reduce((sum, { series }) => sum + (series?.count ?? 1), 0);
    const told = await times();
    const clean = (await children('first')).score.spec;
    const add = (path: string, value: unknown) => ({ op: 'add', path: `/spec/${path}`, value });
    const pod = 'jobTemplate/spec/template/spec';
    const container = `${pod}/containers/0`;
    const additions: Readonly<Record<string, object>> = {
      'a variable': add(`${container}/env/-`, { name: 'NODE_OPTIONS', value: '--require /tmp/evil.js' }),
      variables: add(`${container}/envFrom`, [{ configMapRef: { name: 'evil' } }]),
      'a command': add(`${container}/command`, ['sh', '-c', 'true']),
      'a hook': add(`${container}/lifecycle`, { postStart: { exec: { command: ['sh'] } } }),
      'a container before': add(`${pod}/initContainers`, [{ name: 'evil', image: 'evil' }]),
      'a container beside': add(`${pod}/containers/-`, { name: 'evil', image: 'evil' }),
      'a volume': add(`${pod}/volumes/-`, { name: 'evil', emptyDir: {} }),
      'a node': add(`${pod}/nodeName`, 'evil'),
      'more pods': add('jobTemplate/spec/parallelism', 2),
    };
    const objects = space.plane.config().makeApiClient(BatchV1Api);
    for (const [what, patch] of Object.entries(additions)) {
      await objects.patchNamespacedCronJob({ namespace: space.name, name: 'first-score', body: [patch] });
      await eventually(
        async () => isDeepStrictEqual((await children('first')).score.spec, clean),
        `${what} to be taken out`,
        20_000,
      );
    }
    await eventually(
      async () => (await times()) >= told + Object.keys(additions).length,
      'each of them to be told',
    );
    const mark = { metadata: { annotations: { 'example.org/cost-centre': '7' } } };
    await space.api.merge(cronJobs, space.name, 'first-score', mark);
    await space.patch('first', { metadata: { annotations: { touched: 'again' } } });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const left = (await children('first')).score;
    assert.equal(left.metadata.annotations?.['example.org/cost-centre'], '7');
    assert.deepEqual(left.spec, clean);
  });

  it('leaves alone what is as it shall be', async () => {
    const before = await children('first');
    await space.patch('first', { metadata: { annotations: { touched: 'yes' } } });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const after = await children('first');
    assert.equal(after.score.metadata.resourceVersion, before.score.metadata.resourceVersion);
    assert.equal(after.finalize.metadata.resourceVersion, before.finalize.metadata.resourceVersion);
  });

  it('suspends both, and goes on, as the spec says', async () => {
    await space.patch('first', { spec: { suspend: true } });
    await eventually(async () => (await cronJob('first-score'))?.spec.suspend === true, 'both suspended');
    await reason('first', 'Ready', 'Suspended');
    assert.equal((await space.get('first'))?.status?.score?.reason, 'Suspended');
    await space.patch('first', { spec: { suspend: false, score: { schedule: '5 0 29 2 *' } } });
    await eventually(async () => {
      const score = await cronJob('first-score');
      return score?.spec.suspend === false && score.spec.schedule === '5 0 29 2 *';
    }, 'the score CronJob to go on');
  });

  it('tells of Jobs whose tables it does not read', async () => {
    const clickhouse = { secretRef: { name: 'clickhouse' }, database: 'elsewhere' };
    await space.create(sampleProgram('elsewhere', { clickhouse }));
    await reason('elsewhere', 'Degraded', 'OtherTables');
    await reason('elsewhere', 'Ready', 'OtherTables');
  });

  it('tells of a bad policy, and of a ConfigMap that is not there, and starts no Jobs', async () => {
    await space.create(
      sampleProgram('bad-policy', {
        policy: { inline: { version: 1, name: 'x', rules: [{ kind: 'luck' }] } },
      }),
    );
    await space.create(sampleProgram('no-map', { policy: { configMapRef: { name: 'policies' } } }));
    await reason('bad-policy', 'Degraded', 'InvalidPolicy');
    assert.equal(await cronJob('bad-policy-score'), undefined);
    await reason('no-map', 'Degraded', 'ConfigMapMissing');
    assert.equal(await cronJob('no-map-score'), undefined);
    await space.core.createNamespacedConfigMap({
      namespace: space.name,
      body: { metadata: { name: 'policies' }, data: { 'policy.yaml': 'version: [1' } },
    });
    await space.patch('no-map', { spec: { pollSeconds: 1 } });
    await reason('no-map', 'Degraded', 'InvalidPolicy');
    await space.core.replaceNamespacedConfigMap({
      namespace: space.name,
      name: 'policies',
      body: {
        metadata: { name: 'policies' },
        data: { 'policy.yaml': 'version: 1\nname: p\nrules: [{kind: transactions, name: sent}]' },
      },
    });
    const { score } = await children('no-map');
    const [container] = score.spec.jobTemplate.spec.template.spec.containers;
    const text = container?.env.find(({ name }) => name === 'SCORING_PROGRAM_TEXT')?.value ?? '';
    assert.equal(JSON.parse(text).policy, '/etc/weft/policy/policy.yaml');
    await reason('no-map', 'Degraded', 'AsExpected');
  });

  it('does not take over a CronJob that is somebody else’s', async () => {
    const foreign = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'taken-score' },
      spec: {
        schedule: '@daily',
        suspend: true,
        jobTemplate: {
          spec: {
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
          },
        },
      },
    };
    await space.api.create(cronJobs, space.name, foreign);
    await space.create(sampleProgram('taken'));
    await reason('taken', 'Degraded', 'ChildConflict');
    const left = await cronJob('taken-score');
    assert.deepEqual([left?.spec.schedule, left?.metadata.ownerReferences], ['@daily', undefined]);
  });

  it('removes CronJobs whose program is gone', async () => {
    const { score } = await children('first');
    const orphan = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: {
        name: 'orphan-score',
        labels: { ...score.metadata.labels, 'vip.weft.dev/program': 'orphan' },
      },
      spec: score.spec,
    };
    await space.api.create(cronJobs, space.name, orphan as unknown as Record<string, unknown>);
    await eventually(async () => (await cronJob('orphan-score')) === undefined, 'the orphan to go', 30_000);
  });

  it('lets a deleted program go at once when no Job of it runs, and its children with it', async () => {
    const program = (await space.get('first')) as ScoringProgram;
    await space.remove(program);
    await eventually(async () => (await space.get('first')) === undefined, 'the program to go');
    await eventually(async () => (await cronJob('first-score')) === undefined, 'its CronJob to go', 60_000);
    assert.equal((await eventsOf('first', 'Drained')).length, 1);
  });

  it('measures what it does', async () => {
    assert.equal(await operator.metric('weft_operator_leader'), 1);
    assert.ok(((await operator.metric('weft_operator_reconcile_seconds_count', 'result="ok"')) ?? 0) > 5);
    assert.equal(await operator.metric('weft_vip_condition', 'program="taken",type="Degraded"'), 1);
    await eventually(
      async () => (await operator.metric('weft_vip_condition', 'program="first"')) === undefined,
      'what was measured of the deleted program to go',
    );
  });
});
