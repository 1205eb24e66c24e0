import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cronJobs, events, jobs, leases } from '../../services/scoring-operator/kubernetes/api.js';
import { leaseName } from '../../services/scoring-operator/operator/environment.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { eventually } from '../support/block.js';
import { suiteInStageWorld } from '../support/kubernetes/stage-suite.js';
import { longest, type StageWorld } from '../support/kubernetes/stage-world.js';

describe('stages in a cluster', function () {
  this.timeout(240_000);
  let world: StageWorld;
  const processLists: string[] = [];
  /** The contract of a program that is there from the beginning. */
  let patient = '';

  const create = suiteInStageWorld(async (started) => {
    world = started;
    // A minute old when it is used: a run that its CronJob has missed by then is made up for at once.
    patient = await world.create('by-itself', {
      finalize: { schedule: '* * * * *', approval: 'Automatic', confirmations: 1 },
    });
  });

  it('nothing happens while the stage runs; then it is scored, waits for approval, and is finalized', async () => {
    world.inStage(5n);
    const contract = await create('manual');
    await world.reason('manual', 'Ready', 'AsExpected');
    assert.equal((await world.statusOf('manual')).finalize?.reason, 'StageRunning');
    const before = await world.sent();
    await world.ends(await world.startJob('manual-score'), 'Complete');
    assert.equal(await world.sent(), before, 'nothing is sent while the stage runs');

    world.inStage(6n);
    await world.reason('manual', 'ScoreUpToDate', 'ScorePending');
    assert.equal(await world.suspended('manual-finalize'), true);
    await world.ends(await world.startJob('manual-score'), 'Complete');
    await world.reason('manual', 'FinalizationPending', 'ApprovalNeeded');
    assert.equal(await world.suspended('manual-finalize'), true);
    const waiting = await world.statusOf('manual');
    assert.equal(waiting.stages?.[0]?.phase, 'AwaitingApproval');
    assert.ok((waiting.stages?.[0]?.txHashes?.length ?? 0) > 5);
    assert.equal(waiting.lastScoredStage, 5);

    // A Job made by hand does not get round the approval either.
    await world.ends(await world.startJob('manual-finalize'), 'Complete');
    assert.deepEqual(await world.finalizedBy(contract), []);

    // A stage alone approves nothing, nor does a list that it does not have any more.
    const finalize = { approvedStage: 5, approvedList: 'ab'.repeat(32) };
    await world.space.patch('manual', { spec: { finalize } });
    await world.ends(await world.startJob('manual-finalize'), 'Complete');
    assert.deepEqual(await world.finalizedBy(contract), []);
    const { resultHash: approvedList } = waiting.stages![0]!;
    await world.space.patch('manual', { spec: { finalize: { ...finalize, approvedList } } });
    await world.gate('manual', 'open');
    await world.ends(await world.startJob('manual-finalize'), 'Complete');
    assert.deepEqual(await world.finalizedBy(contract), [5n]);
    await world.gate('manual', 'closed');
    // The status is written after the CronJobs.
    const isTold = async (): Promise<boolean> => {
      const { lastFinalizedStage, stages } = await world.statusOf('manual');
      return lastFinalizedStage === 5 && stages?.[0]?.phase === 'Finalized';
    };
    await eventually(isTold, 'the finalized stage in the status', 20_000);
    const again = await world.sent();
    const more = await Promise.all([world.startJob('manual-finalize'), world.startJob('manual-score')]);
    await Promise.all(more.map((job) => world.ends(job, 'Complete')));
    assert.equal(await world.sent(), again, 'a Job that runs twice sends nothing');
    const told = await world.space.api.list<{ readonly reason: string }>(events, world.space.name);
    for (const wanted of ['ApprovalNeeded', 'FinalizationBegins', 'StageFinalized'])
      assert.ok(
        told.items.some((event) => event.reason === wanted),
        wanted,
      );
    assert.equal(await world.operator.metric('weft_vip_stage_finalized', 'program="manual"'), 5);
    const left = (await world.operator.metric('weft_vip_stage_deadline_seconds', 'program="manual"')) ?? 0;
    assert.ok(left > 0 && left <= longest, String(left));
  });

  it('a Job that is killed in the middle loses nothing: its successor goes on', async () => {
    world.inStage(6n);
    const contract = await create('killed', { finalize: { approval: 'Automatic' } });
    const from = await world.sent();
    await world.mineSlowly(true);
    const job = await world.startJob('killed-score');
    const pod = await world.podOf(job);
    await eventually(async () => (await world.sent()) >= from + 3, 'some txs', 120_000);
    processLists.push(execFileSync('ps', ['axww', '-o', 'args']).toString());
    pod.child.kill('SIGKILL');
    await world.mineSlowly(false);
    // The Job's own controller makes the next pod, after ten seconds.
    await world.ends(job, 'Complete');
    assert.equal(world.podsOf(job).length, 2);
    assert.ok((await world.sent()) <= from + 12, 'what was written was not written again');
    await world.gate('killed', 'open');
    await world.ends(await world.startJob('killed-finalize'), 'Complete');
    assert.deepEqual(await world.finalizedBy(contract), [5n]);
  });

  it('SIGTERM ends a Job between two txs, and the next pod goes on', async () => {
    world.inStage(6n);
    await create('ended');
    const from = await world.sent();
    await world.mineSlowly(true);
    const job = await world.startJob('ended-score');
    const pod = await world.podOf(job);
    await eventually(async () => (await world.sent()) >= from + 2, 'some txs', 120_000);
    const code = new Promise((resolve) => pod.child.once('close', resolve));
    pod.child.kill('SIGTERM');
    assert.equal(await code, 75, pod.output());
    assert.match(pod.output(), /stopping once the tx under way/);
    await world.mineSlowly(false);
    await world.ends(job, 'Complete');
    await world.reason('ended', 'FinalizationPending', 'ApprovalNeeded');
  });

  it('of two Jobs of one signer one waits for the other', async () => {
    world.inStage(6n);
    await create('pair-a');
    await create('pair-b');
    const from = await world.sent();
    const [a, b] = [await world.startJob('pair-a-score'), await world.startJob('pair-b-score')];
    const lease = leaseName(world.chain_id, world.anvil.accounts[0]!.address);
    const holders = new Set<string>();
    const watching = setInterval(() => {
      void world.space.api
        .get<{ spec?: { holderIdentity?: string } }>(leases, world.space.name, lease)
        .then((found) => holders.add(found?.spec?.holderIdentity?.split('_')[0] ?? ''))
        .catch(() => {});
    }, 50);
    await world.ends(a, 'Complete');
    await world.ends(b, 'Complete');
    clearInterval(watching);
    // On a busy machine a pod may lose its Lease, and have a successor.
    for (const job of [a, b]) {
      const name = world.podsOf(job).at(-1)?.name ?? '';
      assert.ok(holders.has(name), `${name} never held the Lease: ${[...holders]}`);
    }
    const said = [...world.podsOf(a), ...world.podsOf(b)].map((pod) => pod.output());
    assert.match(said.join('\n'), /held by another/, 'neither had to wait');
    assert.ok((await world.sent()) <= from + 24, 'what was written was not written again');
  });

  it('a key of another account, and a program that cannot be, fail at once', async () => {
    world.inStage(6n);
    const other = world.anvil.accounts[1]!.address;
    await create('other-key', { spec: { signer: { address: other, secretRef: { name: 'signer' } } } });
    await world.reason('other-key', 'SignerAuthorized', 'NotAllowed');
    const job = await world.startJob('other-key-score');
    await world.ends(job, 'Failed');
    assert.equal(world.podsOf(job).length, 1, 'it was not tried again');
    assert.equal(world.podsOf(job)[0]?.child.exitCode, 78);
    await eventually(
      async () => (await world.statusOf('other-key')).score?.consecutiveFailures === 1,
      'the failure to be told',
    );
    assert.equal(
      await world.operator.metric('weft_vip_job_failures_total', 'program="other-key",phase="score"'),
      1,
    );
  });

  it('a deleted program waits for its Job, and then goes', async () => {
    world.inStage(6n);
    await create('drained');
    world.kubelet.isHeld = true;
    const job = await world.startJob('drained-score');
    await eventually(
      async () => (await world.statusOf('drained')).score?.activeJobs.length === 1,
      'the Job to be seen',
    );
    const program = (await world.space.get('drained')) as ScoringProgram;
    await world.space.remove(program);
    await world.reason('drained', 'Ready', 'Draining');
    assert.equal(await world.suspended('drained-score'), true);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    assert.notEqual(await world.space.get('drained'), undefined, 'it went with a Job running');
    world.kubelet.isHeld = false;
    await world.ends(job, 'Complete');
    await eventually(
      async () => (await world.space.get('drained')) === undefined,
      'the program to go',
      20_000,
    );
  });

  it('a CronJob whose gate opens starts its Job by itself', async () => {
    world.inStage(6n);
    const contract = patient;
    await world.ends(await world.startJob('by-itself-score'), 'Complete');
    await world.reason('by-itself', 'FinalizationPending', 'ConfirmationsNeeded');
    await world.anvil.call('anvil_mine', '0x2');
    await eventually(
      async () => (await world.finalizedBy(contract)).length > 0,
      'the stage to be finalized',
      90_000,
    );
    assert.deepEqual(await world.finalizedBy(contract), [5n]);
    await eventually(
      async () => (await world.statusOf('by-itself')).finalize?.lastSuccessfulTime !== undefined,
      'the time of it to be told',
      30_000,
    );
  });

  it('the key is nowhere but in the Secret', async () => {
    const key = world.anvil.accounts[0]!.private_key.slice(2);
    const texts: Record<string, string> = {
      operator: world.operator.output(),
      processes: processLists.join('\n'),
    };
    for (const pod of world.kubelet.pods) texts[`pod ${pod.name}`] = pod.output();
    for (const resource of [events, cronJobs, jobs, leases])
      texts[resource.plural] = JSON.stringify(await world.space.api.list(resource, world.space.name));
    texts['programs'] = JSON.stringify(
      await world.space.api.list(
        { group: 'vip.weft.dev', version: 'v1alpha1', plural: 'scoringprograms' },
        world.space.name,
      ),
    );
    texts['pods'] = JSON.stringify(await world.space.core.listNamespacedPod({ namespace: world.space.name }));
    for (const file of readdirSync(world.space.plane.folder).filter((name) => name.endsWith('.log')))
      texts[file] = readFileSync(join(world.space.plane.folder, file), 'utf8');
    assert.ok(texts['processes']?.includes('job.js'), 'a Job was among the processes');
    for (const [where, text] of Object.entries(texts)) {
      // etcd has nothing to say while all is well.
      assert.ok(text.length > 100 || where === 'etcd.log', `${where} is empty`);
      assert.equal(text.includes(key), false, where);
    }
  });
});
