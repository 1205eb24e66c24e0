import assert from 'node:assert/strict';
import { HDNodeWallet } from 'ethers';
import { events, leases } from '../../services/scoring-operator/kubernetes/api.js';
import { leaseName } from '../../services/scoring-operator/operator/environment.js';
import { eventually } from '../support/block.js';
import { suiteInStageWorld } from '../support/kubernetes/stage-suite.js';
import type { StageWorld } from '../support/kubernetes/stage-world.js';
import { plainContract } from '../support/score-contract.js';

/** Nobody else's words: those of the EVM stand in its argument list. */
const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
const mnemonicIndex = 3;

describe('Jobs in a cluster', function () {
  this.timeout(240_000);
  let world: StageWorld;
  const create = suiteInStageWorld((started) => {
    world = started;
    world.inStage(6n);
  });

  it('run with words for a key, and with endpoints and tables from ConfigMaps', async () => {
    const { space, anvil, l1, indexers } = world;
    const { name: namespace, core } = space;
    const { address } = HDNodeWallet.fromPhrase(words, '', `m/44'/60'/0'/0/${mnemonicIndex}`);
    await core.createNamespacedSecret({
      namespace,
      body: { metadata: { name: 'words' }, stringData: { words: `${words}\n`, other: 'not for the pod' } },
    });
    const maps = {
      endpoints: {
        'endpoints.yaml': JSON.stringify({
          l1: { urls: [l1.url], module: '0x1', standstill_seconds: 3 },
          rollup: { json_rpc_urls: [anvil.url] },
          indexers: indexers.addresses,
        }),
      },
      tables: { url: world.tables.url },
    };
    for (const [name, data] of Object.entries(maps))
      await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data } });
    const contract = await create('by-words', {
      finalize: { approval: 'Automatic' },
      spec: {
        signer: { address, secretRef: { name: 'words', mnemonicKey: 'words' }, mnemonicIndex },
        endpoints: { configMapRef: { name: 'endpoints', key: 'endpoints.yaml' } },
        clickhouse: { configMapRef: { name: 'tables' }, database: world.tables.database },
      },
    });
    await world.reason('by-words', 'SignerAuthorized', 'NotAllowed');
    const allow = plainContract(anvil, contract).getFunction('addAllowList');
    await (await allow.send(address, { gasPrice: 0, type: 0 })).wait();
    const score = await world.startJob('by-words-score');
    await world.ends(score, 'Complete');
    await world.gate('by-words', 'open');
    const finalize = await world.startJob('by-words-finalize');
    await world.ends(finalize, 'Complete');
    assert.deepEqual(await world.finalizedBy(contract), [5n]);
    assert.ok(Number(await anvil.call('eth_getTransactionCount', address, 'latest')) > 5);
    const said = [...world.podsOf(score), ...world.podsOf(finalize)].map((pod) => pod.output()).join('\n');
    for (const text of [
      said,
      world.operator.output(),
      JSON.stringify(await space.api.list(events, namespace)),
      JSON.stringify(await core.listNamespacedPod({ namespace })),
    ])
      assert.equal(text.includes('winner thank'), false);
  });

  it('that have lost the Lease of their signer stop, and their successor goes on', async () => {
    const { space, anvil, chain_id } = world;
    await create('robbed');
    const lease = leaseName(chain_id, anvil.accounts[0]!.address);
    const from = await world.sent();
    await world.mineSlowly(true);
    const job = await world.startJob('robbed-score');
    const pod = await world.podOf(job);
    await eventually(async () => (await world.sent()) >= from + 2, 'some txs', 120_000);
    const code = new Promise((resolve) => pod.child.once('close', resolve));
    const thief = { holderIdentity: 'thief', leaseDurationSeconds: 20 };
    await space.api.merge(leases, space.name, lease, { spec: thief });
    assert.equal(await code, 75, pod.output());
    assert.match(pod.output(), /the Lease is lost: another has taken it/);
    // What was on its way is mined now.
    await world.mineSlowly(false);
    await anvil.call('anvil_mine', '0x1');
    const left = await world.sent();
    const holder = async () =>
      (await space.api.get<{ spec: { holderIdentity: string } }>(leases, space.name, lease))?.spec
        .holderIdentity;
    // Whoever was robbed gives nothing back that is not its own.
    assert.equal(await holder(), 'thief');
    // The next pod comes after ten seconds, and waits until the thief has been silent for long enough.
    await eventually(() => world.podsOf(job).length === 2, 'the next pod', 60_000);
    const second = world.podsOf(job)[1]!;
    await eventually(() => /held by another/.test(second.output()), 'it to wait', 30_000);
    assert.equal(await world.sent(), left, 'nothing is sent without the Lease');
    await world.ends(job, 'Complete');
    await world.reason('robbed', 'FinalizationPending', 'ApprovalNeeded');
    assert.ok((await world.sent()) <= from + 12, 'what was written was not written again');
  });

  it('whose Secret lacks the key do not start: that is said, and they start once it is there', async () => {
    const { space } = world;
    const secretRef = { name: 'signer', key: 'absent' };
    await create('keyless', {
      spec: { signer: { address: world.anvil.accounts[0]!.address, secretRef } },
    });
    await world.reason('keyless', 'Degraded', 'AsExpected');
    const job = await world.startJob('keyless-score');
    await world.reason('keyless', 'Degraded', 'SecretMissing');
    const { conditions } = await world.statusOf('keyless');
    const told = conditions?.find(({ type }) => type === 'Degraded')?.message ?? '';
    assert.match(told, /the score Job keyless-score-\S+ does not start: FailedMount: .*secret key: absent/);
    assert.equal(conditions?.find(({ type }) => type === 'Ready')?.reason, 'SecretMissing');
    assert.equal(world.podsOf(job).length, 0);
    const all = await space.api.list<{ reason: string; regarding: { name: string } }>(events, space.name);
    assert.ok(all.items.some((one) => one.reason === 'SecretMissing' && one.regarding.name === 'keyless'));
    const [{ private_key } = { private_key: '' }] = world.anvil.accounts;
    await space.core.patchNamespacedSecret({
      namespace: space.name,
      name: 'signer',
      body: [{ op: 'add', path: '/data/absent', value: Buffer.from(private_key).toString('base64') }],
    });
    await world.ends(job, 'Complete');
    await world.reason('keyless', 'Degraded', 'AsExpected');
  });

  it('whose tables are in a Secret without a URL do not start either, nor any of a Secret that is not there', async () => {
    const { space } = world;
    await space.core.createNamespacedSecret({
      namespace: space.name,
      body: { metadata: { name: 'empty' }, stringData: { user: 'weft' } },
    });
    await create('tableless', {
      spec: { clickhouse: { secretRef: { name: 'empty' }, database: world.tables.database } },
    });
    await create('secretless', {
      spec: { signer: { address: world.anvil.accounts[0]!.address, secretRef: { name: 'nowhere' } } },
    });
    await Promise.all([world.startJob('tableless-score'), world.startJob('secretless-score')]);
    for (const [name, why] of [
      ['tableless', /couldn't find key url in Secret/],
      ['secretless', /secret "signer" not found/],
    ] as const) {
      await world.reason(name, 'Degraded', 'SecretMissing');
      const found = (await world.statusOf(name)).conditions?.find(({ type }) => type === 'Degraded');
      assert.match(found?.message ?? '', why);
    }
  });

  it('send nothing for another version of the registration, another contract or another chain', async () => {
    const { l1 } = world;
    const contract = await create('versioned', {
      finalize: { approval: 'Automatic' },
      spec: { bridgeId: 5 },
    });
    const bridge = { bridge_id: 5n, version: 2n, init_stage: 5n, vip_l2_score_contract: contract };
    const before = await world.sent();
    const refused = async (reason: string): Promise<void> => {
      await world.reason('versioned', 'Degraded', reason);
      assert.equal((await world.statusOf('versioned')).finalize?.reason, reason);
      const jobs = [await world.startJob('versioned-score'), await world.startJob('versioned-finalize')];
      for (const job of jobs) await world.ends(job, 'Failed');
      assert.deepEqual(
        jobs.map((job) => world.podsOf(job).map(({ child }) => child.exitCode)),
        [[64], [64]],
        'a person has to do something: they are not tried again',
      );
    };
    try {
      l1.state.bridges = [bridge];
      await refused('OtherVersion');
      l1.state.bridges = [{ ...bridge, version: 1n, vip_l2_score_contract: `0x${'8'.repeat(40)}` }];
      await refused('OtherContractRegistered');
      l1.state.bridges = [{ ...bridge, version: 1n }];
      assert.equal(await world.sent(), before);
      await world.reason('versioned', 'ScoreUpToDate', 'ScorePending');
      await world.ends(await world.startJob('versioned-score'), 'Complete');
      await world.gate('versioned', 'open');
      await world.ends(await world.startJob('versioned-finalize'), 'Complete');
      assert.deepEqual(await world.finalizedBy(contract), [5n]);
      // Jobs that have failed in a row count until one has gone well.
      await world.reason('versioned', 'Degraded', 'AsExpected');
    } finally {
      l1.state.bridges = [];
    }
    await create('elsewhere', { spec: { chainId: 'elsewhere-1' } });
    await world.reason('elsewhere', 'Degraded', 'OtherChain');
    const sent = await world.sent();
    const job = await world.startJob('elsewhere-score');
    await world.ends(job, 'Failed');
    assert.equal(world.podsOf(job)[0]?.child.exitCode, 64);
    assert.equal(await world.sent(), sent);
  });
});
