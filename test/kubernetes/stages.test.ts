import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { cronJobs, events, jobs, leases } from '../../services/scoring-operator/kubernetes/api.js';
import { leaseName } from '../../services/scoring-operator/operator/children.js';
import type { Job, ScoringProgram, Status } from '../../services/scoring-operator/operator/resource.js';
import { type Anvil, startAnvil } from '../../tools/dev/anvil.js';
import { type Indexers, startIndexers } from '../../tools/dev/indexers.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { type ClickHouseServer, serveClickHouse } from '../support/kubernetes/clickhouse.js';
import { type Kubelet, type RunningPod, startKubelet } from '../support/kubernetes/kubelet.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type OperatorProcess, startOperatorProcess } from '../support/kubernetes/operator-process.js';
import { sampleProgram } from '../support/kubernetes/programs.js';
import { deployKind, plainContract } from '../support/score-contract.js';
import { l1InStage } from '../support/scoring/l1.js';
import { interval, questFile, start } from '../support/scoring/recorded-stages.js';

/** How long a stage lasts as the L1 says while it runs. */
const longest = 1_000_000;

const policy = `version: 1
name: in_cluster
rules:
  - {kind: transactions, name: sent, weight: 10}
  - {kind: source, name: quest, file: quest.csv, duplicates: refuse}
`;

/** The schedule of a CronJob that starts nothing by itself while a test runs. */
const never = '0 0 29 2 *';

const rfc3339 = (seconds: number): string => new Date(seconds * 1000).toISOString();

describe('stages in a cluster', function () {
  this.timeout(180_000);
  let space: TestNamespace;
  let node: ReplayNode;
  let indexers: Indexers;
  let anvil: Anvil;
  let l1: SimulatedL1;
  let tables: ClickHouseServer;
  let operator: OperatorProcess;
  let kubelet: Kubelet;
  let clock: NodeJS.Timeout;
  const processLists: string[] = [];
  const created: string[] = [];
  /** The contract of a program that is there from the beginning. */
  let patient = '';

  before(async () => {
    anvil = await startAnvil();
    node = await startReplayNode({ recording: 'evm', tip: 400 });
    const database = await testDatabase();
    const tools = { database, log: createLog('silent'), metrics: createMetrics() };
    indexers = await startIndexers(node, tools, uniquePrefix());
    tables = await serveClickHouse(database);
    l1 = await startSimulatedL1({
      module: { address: '0x1', name: 'vip', prefix: 'initia' },
      state: l1InStage(5n, start, interval),
    });
    clock = setInterval(() => l1.advance(1), 100);
    space = await makeNamespace();
    const { name: namespace, core } = space;
    await core.createNamespacedSecret({
      namespace,
      body: {
        metadata: { name: 'signer' },
        stringData: { privateKey: anvil.accounts[0]!.private_key, other: 'not for the pod' },
      },
    });
    await core.createNamespacedSecret({
      namespace,
      body: { metadata: { name: 'clickhouse' }, stringData: { url: tables.url } },
    });
    await core.createNamespacedConfigMap({
      namespace,
      body: {
        metadata: { name: 'policy' },
        data: { 'policy.yaml': policy, 'quest.csv': questFile },
      },
    });
    operator = await startOperatorProcess(space, {
      CLICKHOUSE_URL: tables.url,
      LEADER_LEASE_SECONDS: '60',
    });
    // Few scores in a tx, so that there is a middle.
    kubelet = startKubelet(space, { TX_MAX_SCORES: '6', LEASE_SECONDS: '3', LOG_LEVEL: 'debug' });
    await eventually(() => operator.ready(), 'the operator');
    // A minute old when it is used: a run that its CronJob has missed by then is made up for at once.
    patient = await create('by-itself', {
      finalize: { schedule: '* * * * *', approval: 'Automatic', confirmations: 1 },
    });
  });
  after(async function () {
    const failed = this.test?.parent?.tests.some(({ state }) => state === 'failed');
    if (failed) {
      process.stdout.write(`${operator?.output().slice(-4_000)}\n`);
      for (const pod of kubelet?.pods ?? [])
        process.stdout.write(`${pod.name}\n${pod.output().slice(-3_000)}\n`);
    }
    clearInterval(clock);
    await kubelet?.stop();
    await operator?.kill();
    await tables?.close();
    await l1?.close();
    await indexers?.stop();
    await node?.close();
    await anvil?.stop();
  });

  // What is looked at every second takes time from the tests after.
  afterEach(async () => {
    for (const name of created.splice(0)) {
      const program = await space.get(name);
      if (program !== undefined) await space.remove(program);
    }
  });

  /** The L1 in a stage, whose end no test lives to see. Programs are told when the stage before was. */
  function inStage(stage: bigint): void {
    const stage_start_time = start + Number(stage - 5n) * interval;
    Object.assign(l1.state, { stage, stage_start_time, stage_end_time: stage_start_time + longest });
    l1.state.time = Math.max(l1.state.time, stage_start_time + 30);
  }

  async function create(name: string, more: { finalize?: object; spec?: object } = {}): Promise<string> {
    const contract = await deployKind(anvil, 'ours', 5n);
    if (name !== 'by-itself') created.push(name);
    await space.create(
      sampleProgram(name, {
        pollSeconds: 1,
        // Nothing that was seen says when it was.
        windows: [{ stage: 5, startTime: rfc3339(start), endTime: rfc3339(start + interval) }],
        contract: { address: contract },
        signer: { address: anvil.accounts[0]!.address, secretRef: { name: 'signer' } },
        endpoints: {
          l1: { urls: [l1.url], module: '0x1', standstillSeconds: 3 },
          rollup: { jsonRpcUrls: [anvil.url] },
          indexers: indexers.addresses,
        },
        policy: { configMapRef: { name: 'policy' } },
        score: { schedule: never },
        finalize: { schedule: never, delayAfterStageEnd: '20s', ...more.finalize },
        ...more.spec,
      }),
    );
    await eventually(async () => (await cronJob(`${name}-finalize`)) !== undefined, 'the CronJobs');
    return contract;
  }

  interface CronJob {
    readonly metadata: { readonly uid: string };
    readonly spec: {
      readonly suspend: boolean;
      readonly jobTemplate: { readonly spec: unknown; readonly metadata: object };
    };
  }
  const cronJob = (name: string): Promise<CronJob | undefined> => space.api.get(cronJobs, space.name, name);
  let made = 0;

  /** What `kubectl create job --from` does. */
  async function startJob(from: string): Promise<string> {
    const source = (await cronJob(from)) as CronJob;
    const name = `${from}-${++made}`;
    await space.api.create(jobs, space.name, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        ...source.spec.jobTemplate.metadata,
        name,
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'CronJob', name: from, uid: source.metadata.uid, controller: true },
        ],
      },
      spec: source.spec.jobTemplate.spec,
    });
    return name;
  }

  const outcomeOf = async (name: string): Promise<string | undefined> =>
    (await space.api.get<Job>(jobs, space.name, name))?.status?.conditions?.find(
      ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
    )?.type;
  const ends = async (name: string, wanted: 'Complete' | 'Failed'): Promise<void> => {
    let found: string | undefined;
    await eventually(
      async () => {
        found = await outcomeOf(name);
        return found !== undefined;
      },
      `the Job ${name} to end`,
      90_000,
    );
    assert.equal(
      found,
      wanted,
      podsOf(name)
        .map((pod) => pod.output())
        .join('\n'),
    );
  };
  const podsOf = (job: string): readonly RunningPod[] =>
    kubelet.pods.filter(({ name }) => name.startsWith(`${job}-`));
  const podOf = async (job: string): Promise<RunningPod> => {
    await eventually(() => podsOf(job).length > 0, `a pod of ${job}`, 30_000);
    return podsOf(job)[0] as RunningPod;
  };
  const statusOf = async (name: string): Promise<Status> => (await space.get(name))?.status ?? {};
  const reason = (name: string, type: string, wanted: string): Promise<void> => {
    let found: unknown;
    return eventually(
      async () => {
        found = (await statusOf(name)).conditions?.find((one) => one.type === type);
        return (found as { reason?: string } | undefined)?.reason === wanted;
      },
      `${type} of ${name} to be ${wanted}`,
      30_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
    });
  };
  const finalizedBy = async (contract: string): Promise<readonly unknown[]> =>
    (await plainContract(anvil, contract).queryFilter('FinalizeStage', 0)).map((event) =>
      'args' in event ? event.args[0] : undefined,
    );
  const sent = async (): Promise<number> =>
    Number(await anvil.call('eth_getTransactionCount', anvil.accounts[0]!.address, 'latest'));
  const suspended = async (name: string): Promise<boolean | undefined> => (await cronJob(name))?.spec.suspend;

  it('nothing happens while the stage runs; then it is scored, waits for approval, and is finalized', async () => {
    inStage(5n);
    const contract = await create('manual');
    await reason('manual', 'Ready', 'AsExpected');
    assert.equal((await statusOf('manual')).finalize?.reason, 'StageRunning');
    const before = await sent();
    await ends(await startJob('manual-score'), 'Complete');
    assert.equal(await sent(), before, 'nothing is sent while the stage runs');

    inStage(6n);
    await reason('manual', 'ScoreUpToDate', 'ScorePending');
    assert.equal(await suspended('manual-finalize'), true);
    await ends(await startJob('manual-score'), 'Complete');
    await reason('manual', 'FinalizationPending', 'ApprovalNeeded');
    assert.equal(await suspended('manual-finalize'), true);
    const waiting = await statusOf('manual');
    assert.equal(waiting.stages?.[0]?.phase, 'AwaitingApproval');
    assert.ok((waiting.stages?.[0]?.txHashes?.length ?? 0) > 5);
    assert.equal(waiting.lastScoredStage, 5);

    // A Job made by hand does not get round the approval either.
    await ends(await startJob('manual-finalize'), 'Complete');
    assert.deepEqual(await finalizedBy(contract), []);

    await space.patch('manual', { spec: { finalize: { approvedStage: 5 } } });
    await eventually(async () => (await suspended('manual-finalize')) === false, 'the gate to open', 20_000);
    await ends(await startJob('manual-finalize'), 'Complete');
    assert.deepEqual(await finalizedBy(contract), [5n]);
    await eventually(async () => (await suspended('manual-finalize')) === true, 'the gate to close', 20_000);
    // The status is written after the CronJobs.
    const isTold = async (): Promise<boolean> => {
      const { lastFinalizedStage, stages } = await statusOf('manual');
      return lastFinalizedStage === 5 && stages?.[0]?.phase === 'Finalized';
    };
    await eventually(isTold, 'the finalized stage in the status', 20_000);
    const again = await sent();
    const more = await Promise.all([startJob('manual-finalize'), startJob('manual-score')]);
    await Promise.all(more.map((job) => ends(job, 'Complete')));
    assert.equal(await sent(), again, 'a Job that runs twice sends nothing');
    const told = await space.api.list<{ readonly reason: string }>(events, space.name);
    for (const wanted of ['ApprovalNeeded', 'FinalizationBegins', 'StageFinalized'])
      assert.ok(
        told.items.some((event) => event.reason === wanted),
        wanted,
      );
    assert.equal(await operator.metric('weft_vip_stage_finalized', 'program="manual"'), 5);
    const left = (await operator.metric('weft_vip_stage_deadline_seconds', 'program="manual"')) ?? 0;
    assert.ok(left > 0 && left <= longest, String(left));
  });

  it('a Job that is killed in the middle loses nothing: its successor goes on', async () => {
    inStage(6n);
    const contract = await create('killed', { finalize: { approval: 'Automatic' } });
    const from = await sent();
    const job = await startJob('killed-score');
    const pod = await podOf(job);
    await eventually(async () => (await sent()) >= from + 3, 'some txs', 60_000);
    processLists.push(execFileSync('ps', ['axww', '-o', 'args']).toString());
    pod.child.kill('SIGKILL');
    // The Job's own controller makes the next pod, after ten seconds.
    await ends(job, 'Complete');
    assert.equal(podsOf(job).length, 2);
    assert.ok((await sent()) <= from + 12, 'what was written was not written again');
    await eventually(async () => (await suspended('killed-finalize')) === false, 'the gate to open', 20_000);
    await ends(await startJob('killed-finalize'), 'Complete');
    assert.deepEqual(await finalizedBy(contract), [5n]);
  });

  it('SIGTERM ends a Job between two txs, and the next pod goes on', async () => {
    inStage(6n);
    await create('ended');
    const from = await sent();
    const job = await startJob('ended-score');
    const pod = await podOf(job);
    await eventually(async () => (await sent()) >= from + 2, 'some txs', 60_000);
    const code = new Promise((resolve) => pod.child.once('close', resolve));
    pod.child.kill('SIGTERM');
    assert.equal(await code, 75, pod.output());
    assert.match(pod.output(), /stopping once the tx under way/);
    await ends(job, 'Complete');
    await reason('ended', 'FinalizationPending', 'ApprovalNeeded');
  });

  it('of two Jobs of one signer one waits for the other', async () => {
    inStage(6n);
    await create('pair-a');
    await create('pair-b');
    const [a, b] = [await startJob('pair-a-score'), await startJob('pair-b-score')];
    const lease = leaseName('rollup-1', anvil.accounts[0]!.address);
    const holders = new Set<string>();
    const watching = setInterval(() => {
      void space.api
        .get<{ spec?: { holderIdentity?: string } }>(leases, space.name, lease)
        .then((found) => holders.add(found?.spec?.holderIdentity?.split('_')[0] ?? ''))
        .catch(() => {});
    }, 50);
    await ends(a, 'Complete');
    await ends(b, 'Complete');
    clearInterval(watching);
    const both = [...podsOf(a), ...podsOf(b)];
    assert.equal(both.length, 2);
    for (const { name } of both)
      assert.ok(holders.has(name), `${name} never held the Lease: ${[...holders]}`);
    assert.ok(
      both.some((pod) => /held by another/.test(pod.output())),
      'neither had to wait',
    );
  });

  it('a key of another account, and a program that cannot be, fail at once', async () => {
    inStage(6n);
    const other = anvil.accounts[1]!.address;
    await create('other-key', { spec: { signer: { address: other, secretRef: { name: 'signer' } } } });
    await reason('other-key', 'SignerAuthorized', 'NotAllowed');
    const job = await startJob('other-key-score');
    await ends(job, 'Failed');
    assert.equal(podsOf(job).length, 1, 'it was not tried again');
    assert.equal(podsOf(job)[0]?.child.exitCode, 78);
    await eventually(
      async () => (await statusOf('other-key')).score?.consecutiveFailures === 1,
      'the failure to be told',
    );
    assert.equal(
      await operator.metric('weft_vip_job_failures_total', 'program="other-key",phase="score"'),
      1,
    );
  });

  it('a deleted program waits for its Job, and then goes', async () => {
    inStage(6n);
    await create('drained');
    kubelet.isHeld = true;
    const job = await startJob('drained-score');
    await eventually(
      async () => (await statusOf('drained')).score?.activeJobs.length === 1,
      'the Job to be seen',
    );
    const program = (await space.get('drained')) as ScoringProgram;
    await space.remove(program);
    await reason('drained', 'Ready', 'Draining');
    assert.equal(await suspended('drained-score'), true);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    assert.notEqual(await space.get('drained'), undefined, 'it went with a Job running');
    kubelet.isHeld = false;
    await ends(job, 'Complete');
    await eventually(async () => (await space.get('drained')) === undefined, 'the program to go', 20_000);
  });

  it('a CronJob whose gate opens starts its Job by itself', async () => {
    inStage(6n);
    const contract = patient;
    await ends(await startJob('by-itself-score'), 'Complete');
    await reason('by-itself', 'FinalizationPending', 'ConfirmationsNeeded');
    await anvil.call('anvil_mine', '0x2');
    await eventually(
      async () => (await finalizedBy(contract)).length > 0,
      'the stage to be finalized',
      90_000,
    );
    assert.deepEqual(await finalizedBy(contract), [5n]);
    await eventually(
      async () => (await statusOf('by-itself')).finalize?.lastSuccessfulTime !== undefined,
      'the time of it to be told',
      30_000,
    );
  });

  it('the key is nowhere but in the Secret', async () => {
    const key = anvil.accounts[0]!.private_key.slice(2);
    const texts: Record<string, string> = {
      operator: operator.output(),
      processes: processLists.join('\n'),
    };
    for (const pod of kubelet.pods) texts[`pod ${pod.name}`] = pod.output();
    for (const resource of [events, cronJobs, jobs, leases])
      texts[resource.plural] = JSON.stringify(await space.api.list(resource, space.name));
    texts['programs'] = JSON.stringify(
      await space.api.list(
        { group: 'vip.weft.dev', version: 'v1alpha1', plural: 'scoringprograms' },
        space.name,
      ),
    );
    texts['pods'] = JSON.stringify(await space.core.listNamespacedPod({ namespace: space.name }));
    for (const file of readdirSync(space.plane.folder).filter((name) => name.endsWith('.log')))
      texts[file] = readFileSync(join(space.plane.folder, file), 'utf8');
    assert.ok(texts['processes']?.includes('job.js'), 'a Job was among the processes');
    for (const [where, text] of Object.entries(texts)) {
      // etcd has nothing to say while all is well.
      assert.ok(text.length > 100 || where === 'etcd.log', `${where} is empty`);
      assert.equal(text.includes(key), false, where);
    }
  });
});
