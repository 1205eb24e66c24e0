import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { type Anvil, startAnvil } from '../../tools/dev/anvil.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { readFacts } from '../support/facts.js';
import { temporaryFolder } from '../support/folder.js';
import { connectionSuite } from '../support/node/connection-suite.js';
import { type Forwarded, forward } from '../support/node/forward.js';
import { buildWeft, weftImage } from '../support/node/images.js';
import { hostAddress } from '../support/node/network.js';
import { type Node, startNode } from '../support/node/node.js';
import { program, run } from '../support/node/programs.js';
import { deployKind, plainContract } from '../support/score-contract.js';
import { startStack } from '../support/stack.js';
import { tableDigests } from '../support/table-digests.js';

/** The first stage lies in the recording. */
const [start, interval] = [Date.UTC(2026, 10, 21, 9, 18) / 1000, 130];

/** The release, and its namespace. */
const [release, namespace] = ['rollup', 'indexer'];

/** Little enough for all pods on a small machine. */
const resources = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '1Gi' } };

/** Peers of network policies: this machine, where servers are that pods ask; and pods of a namespace. */
const machine = [{ ipBlock: { cidr: `${hostAddress}/32` } }];
const namespaced = (name: string): object[] => [
  { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } },
];

const certificate = (name: string): string => join(packageRoot, 'test/support/tls', name);

describe('the chart on a real node', function () {
  this.timeout(600_000);
  // Each test goes on from where the one before has ended.
  this.bail(true);
  const folder = temporaryFolder('chart');
  const facts = readFacts('evm');
  /** The chain stands here until the consumer of txs is killed. */
  const half = Math.floor(facts.height / 2);
  const early = facts.txs.filter(({ height }) => height <= half);
  const forwarded: Forwarded[] = [];
  let node: Node;
  let replay: ReplayNode;
  let tables: ClickHouseServer;
  let anvil: Anvil;
  let l1: SimulatedL1;
  let clock: NodeJS.Timeout;
  let contract: string;
  /** Servers of this machine, as pods reach them. */
  const servers: Record<string, string> = {};

  const forPods = async (name: string, url: string): Promise<string> => {
    const one = await forward(url);
    forwarded.push(one);
    servers[name] = new URL(one.url).host;
    return one.url;
  };
  const kubectl = (...args: string[]): Promise<string> => node.kubectl('-n', namespace, ...args);
  const helm = (...args: string[]): Promise<string> =>
    run(program('HELM'), [...args, '--kubeconfig', node.kubeconfig, '-n', namespace]);

  before(async () => {
    node = await startNode();
    await node.containerd.load(await buildWeft(folder));
    replay = await startReplayNode({ recording: 'evm', tip: half });
    tables = await serveClickHouse(await testDatabase());
    anvil = await startAnvil();
    contract = await deployKind(anvil, 'ours', 5n);
    l1 = await startSimulatedL1({
      module: { address: '0x1', name: 'vip', prefix: 'initia' },
      state: {
        chain_id: 'l1-1',
        stage: 6n,
        stage_start_time: start + interval,
        stage_end_time: start + 1_000_000,
        stage_interval: interval,
        challenge_period: interval,
        time: start + interval + 100,
        height: 1,
        bridges: [],
        last_submitted_stage: 0n,
        total_l2_scores: 0n,
      },
    });
    clock = setInterval(() => l1.advance(1), 100);
    await node.kubectl('create', 'namespace', namespace);
    await node.kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted');
    await kubectl(
      ...['create', 'secret', 'generic', 'certificates'],
      `--from-file=tls.crt=${certificate('first-service.pem')}`,
      `--from-file=tls.key=${certificate('first-service.key')}`,
      `--from-file=ca.crt=${certificate('first-ca.pem')}`,
    );
    const key = join(folder, 'key');
    writeFileSync(key, anvil.accounts[0]?.private_key as string, { mode: 0o600 });
    await kubectl('create', 'secret', 'generic', 'signer', `--from-file=privateKey=${key}`);
    const values = {
      image: { repository: weftImage.repository, tag: weftImage.tag, pullPolicy: 'Never' },
      node: {
        rpc: await forPods('rpc', replay.rpc_url),
        rest: await forPods('rest', replay.rest_url),
        jsonRpc: await forPods('json-rpc', replay.json_rpc_url),
      },
      chain: { id: facts.chain_id },
      clickhouse: { url: await forPods('clickhouse', tables.url) },
      defaults: { drainMs: 3_000, resources },
      services: Object.fromEntries(
        ['block', 'tx', 'nft', 'richlist'].map((name) => [
          name,
          { ingest: { resources }, serve: { replicas: 1 } },
        ]),
      ),
      scoringOperator: { replicas: 1, settings: { RELIST_SECONDS: 10 } },
      tls: { enabled: true, existingSecret: 'certificates', serverName: 'weft.test' },
      networkPolicy: {
        enabled: true,
        ...Object.fromEntries(['clickhouse', 'node', 'l1'].map((name) => [name, { to: machine }])),
        apiServer: { to: machine, ports: [Number(new URL(node.plane.url).port)] },
        gateway: { from: namespaced('visitors') },
        metrics: { from: namespaced('monitoring') },
      },
      scoringPrograms: {
        points: {
          pollSeconds: 1,
          bridgeId: 5,
          windows: [
            {
              stage: 5,
              startTime: new Date(start * 1000).toISOString(),
              endTime: new Date((start + interval) * 1000).toISOString(),
            },
          ],
          contract: { address: contract },
          signer: { address: anvil.accounts[0]?.address, secretRef: { name: 'signer' } },
          endpoints: {
            l1: { urls: [await forPods('l1', l1.url)], module: '0x1', standstillSeconds: 3 },
            // The contract is on a chain of its own here, not on the recorded one.
            rollup: { jsonRpcUrls: [await forPods('contract', anvil.url)], evmChainId: 31_337 },
          },
          policy: { builtin: 'tx-count' },
          score: { schedule: '* * * * *' },
          finalize: { schedule: '* * * * *', approval: 'Automatic', delayAfterStageEnd: '20s' },
        },
      },
    };
    writeFileSync(join(folder, 'values.json'), JSON.stringify(values));
  });
  after(async function () {
    const failed = this.test?.parent?.tests.some(({ state }) => state === 'failed');
    if (failed && node !== undefined) {
      process.stdout.write(await kubectl('get', 'pods,jobs,cronjobs,scoringprograms', '-o', 'wide'));
      process.stdout.write((await kubectl('get', 'events', '--sort-by=.lastTimestamp')).slice(-6_000));
      process.stdout.write(node.logs());
      for (const pod of (await kubectl('get', 'pods', '-o', 'name')).trim().split('\n'))
        process.stdout.write(`${pod}\n${await kubectl('logs', pod, '--all-containers', '--tail=15')}\n`);
    }
    clearInterval(clock);
    await node?.stop();
    for (const one of forwarded) one.close();
    await tables?.close();
    await l1?.close();
    await anvil?.stop();
    await replay?.close();
  });

  let api = '';
  interface Answer {
    readonly status: number;
    readonly body: { readonly height?: number; readonly pagination?: { readonly total: string } };
  }
  const get = async (path: string): Promise<Answer> => {
    const response = await fetch(`${api}${path}`, { signal: AbortSignal.timeout(10_000) });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const totalOfTxs = async (): Promise<number> => {
    const { body } = await get('/indexer/tx/v1/txs?pagination.count_total=true&pagination.limit=1');
    return Number(body.pagination?.total);
  };

  it('installs, indexes a rollup, and answers as what is true of it', async () => {
    await helm(
      ...['install', release, join(packageRoot, 'charts/weft'), '-f', join(folder, 'values.json')],
      ...['--wait', '--timeout', '8m'],
    );
    const address = await kubectl(
      'get',
      'service',
      `${release}-weft-gateway`,
      '-o',
      'jsonpath={.spec.clusterIP}',
    );
    api = `http://${address}:8080`;
    await eventually(
      async () => Number((await get('/status')).body.height) >= half,
      'half of the chain',
      120_000,
    );
    assert.equal(await totalOfTxs(), early.length);
    for (const tx of early.slice(0, 20)) {
      const answer = await get(`/indexer/tx/v1/txs/${tx.hash}`);
      assert.equal(answer.status, 200, tx.hash);
    }
  });

  it('helm test says that all is well', async () => {
    await helm('test', release, '--timeout', '3m');
  });

  /** Asks all the while something is done, and for a little while after. @returns how often each answer came */
  async function answersDuring(work: () => Promise<unknown>): Promise<Record<string, number>> {
    const answers: Record<string, number> = {};
    let isOver = false;
    const paths = [
      '/status',
      '/indexer/tx/v1/txs',
      '/indexer/block/v1/blocks',
      `/indexer/tx/v1/txs/${early[0]?.hash}`,
    ];
    const load = [1, 2].map(async (one) => {
      for (let index = one; !isOver; index += 1) {
        const path = `${paths[index % paths.length]}?nothing=${index}`;
        const kind = await get(path).then(
          ({ status, body }) => (status === 200 ? '200' : `${status} ${JSON.stringify(body)}`),
          (error: Error) => `${error.message} ${String(error.cause ?? '')}`,
        );
        answers[kind] = (answers[kind] ?? 0) + 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    try {
      await work();
      // Those of before end after their calls.
      await new Promise((resolve) => setTimeout(resolve, 5_000));
    } finally {
      isOver = true;
      await Promise.all(load);
    }
    return answers;
  }

  /** Names of the gateway's pods. */
  const gateways = async (): Promise<string[]> =>
    (await kubectl('get', 'pods', '-o', 'name')).split('\n').filter((name) => name.includes('gateway'));

  for (const [title, ...args] of [
    [
      'fails no request while every pod is replaced',
      ...['upgrade', release, join(packageRoot, 'charts/weft'), '-f', join(folder, 'values.json')],
      ...['--set', 'defaults.podAnnotations.round=two'],
    ],
    ['fails none while the release is rolled back, and loses nothing', 'rollback', release, '1'],
  ] as const)
    it(title, async () => {
      const before = await gateways();
      const answers = await answersDuring(() => helm(...args, '--wait', '--timeout', '8m'));
      const left = await gateways();
      for (const name of before) assert.ok(!left.includes(name), name);
      assert.deepEqual(Object.keys(answers), ['200'], JSON.stringify(answers));
      assert.ok((answers['200'] ?? 0) > 100, JSON.stringify(answers));
      assert.equal(await totalOfTxs(), early.length);
      await kubectl('get', 'scoringprogram', 'points');
    });

  it('fails no request, and no table, while the pods of all writers are deleted under load', async () => {
    const writers = ['block', 'tx', 'nft', 'richlist'].map((name) => `${release}-weft-${name}-ingest`);
    const uids = async (): Promise<string[]> =>
      Promise.all(
        writers.map((name) => kubectl('get', 'pod', `${name}-0`, '-o', 'jsonpath={.metadata.uid}')),
      );
    const before = await uids();
    // Blocks with txs come all the while; the rest of the recording is for the next test.
    const most = Math.floor((half + facts.height) / 2);
    const growing = setInterval(() => replay.setTip(Math.min(most, replay.tip() + 1)), 1_000);
    try {
      const answers = await answersDuring(async () => {
        for (const name of writers) {
          await kubectl('delete', 'pod', `${name}-0`, '--wait=false');
          await new Promise((resolve) => setTimeout(resolve, 3_000));
        }
        // Once more, all at once: also those that have just begun.
        await Promise.all(
          writers.map((name) => kubectl('delete', 'pod', `${name}-0`, '--wait=false', '--ignore-not-found')),
        );
        await Promise.all(
          writers.map((name) => kubectl('rollout', 'status', `statefulset/${name}`, '--timeout=180s')),
        );
      });
      assert.deepEqual(Object.keys(answers), ['200'], JSON.stringify(answers));
    } finally {
      clearInterval(growing);
    }
    const after = await uids();
    for (const [index, uid] of before.entries()) assert.notEqual(after[index], uid, writers[index]);
    replay.setTip(most);
    const stands = async (): Promise<Record<string, unknown>> => {
      const { height, internal_tx_height, rich_list_height } = (await get('/status')).body as Record<
        string,
        unknown
      >;
      return { height, internal_tx_height, rich_list_height };
    };
    const all = { height: most, internal_tx_height: most, rich_list_height: most };
    await eventually(async () => isDeepStrictEqual(await stands(), all), 'all blocks', 120_000);

    // The same chain, indexed by one process without a disturbance.
    const clean = uniquePrefix();
    const stack = await startStack(replay, { env: { CLICKHOUSE_DATABASE: clean } });
    try {
      await stack.reaches(most, true);
      await stack.knowsNfts(most);
      const database = await testDatabase();
      const expected = await tableDigests(database, clean);
      assert.ok(Object.keys(expected).length > 30);
      // Names and uris are learnt beside the blocks.
      await eventually(
        async () => isDeepStrictEqual(await tableDigests(database, 'weft'), expected),
        'the same tables',
        60_000,
      ).catch(async () => assert.deepEqual(await tableDigests(database, 'weft'), expected));
    } finally {
      await stack.stop();
    }
  });

  connectionSuite(() => ({
    kubectl: node.kubectl,
    namespace,
    servers: { ...servers, 'api-server': new URL(node.plane.url).host },
  }));

  it('loses nothing when the consumer of txs is killed', async () => {
    const field = (path: string): Promise<string> =>
      kubectl(
        ...['get', 'pods', '-l', 'app.kubernetes.io/component=tx-ingest'],
        ...['-o', `jsonpath={.items[0].${path}}`],
      );
    const pod = await field('metadata.name');
    const id = (await field('status.containerStatuses[0].containerID')).replace('containerd://', '');
    const pid = (await node.containerd.tasks()).get(id) as number;
    const growing = setInterval(() => replay.setTip(Math.min(facts.height, replay.tip() + 1)), 100);
    await eventually(async () => (await totalOfTxs()) > early.length, 'more txs');
    process.kill(pid, 'SIGKILL');
    assert.ok(replay.tip() < facts.height, 'killed in the middle');
    await eventually(
      async () => (await field('status.containerStatuses[0].restartCount')) === '1',
      'the container to be started again',
      60_000,
    );
    await kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=120s');
    await eventually(async () => (await totalOfTxs()) >= facts.txs_total, 'all txs', 120_000);
    clearInterval(growing);
    assert.equal(await totalOfTxs(), facts.txs_total);
    for (const tx of facts.txs)
      assert.equal((await get(`/indexer/tx/v1/txs/${tx.hash}`)).status, 200, tx.hash);
  });

  it('scores a stage and finalizes it, in pods of Jobs', async () => {
    const finalized = async (): Promise<unknown[]> =>
      (await plainContract(anvil, contract).queryFilter('FinalizeStage', 0)).map((event) =>
        'args' in event ? event.args[0] : undefined,
      );
    await eventually(async () => (await finalized()).length > 0, 'the stage to be finalized', 300_000);
    assert.deepEqual(await finalized(), [5n]);
    const told = async (): Promise<{ stage: number; users?: number; totalScore?: string } | undefined> => {
      const status = await kubectl('get', 'scoringprogram', 'points', '-o', 'jsonpath={.status}');
      const { stages = [] } = JSON.parse(status) as { stages?: { stage: number; phase: string }[] };
      return stages.find(({ stage, phase }) => stage === 5 && phase === 'Finalized');
    };
    await eventually(async () => (await told()) !== undefined, 'the status of the program', 60_000);
    const stage = await told();
    assert.ok((stage?.users ?? 0) > 2, JSON.stringify(stage));
    const { totalScore } = await plainContract(anvil, contract).getFunction('stages')(5n);
    assert.ok(totalScore > 0n);
    assert.equal(stage?.totalScore, String(totalScore));
  });

  it('goes, and leaves nothing but the definition of programs', async () => {
    await helm('uninstall', release, '--wait', '--timeout', '4m');
    const kinds =
      'all,serviceaccounts,roles,rolebindings,configmaps,secrets,leases,networkpolicies,scoringprograms';
    const labelled = ['-l', `app.kubernetes.io/instance=${release}`];
    await eventually(
      async () => (await kubectl('get', kinds, ...labelled, '-o', 'name')) === '',
      'all of the release to be gone',
      60_000,
    );
    await kubectl('get', 'crd', 'scoringprograms.vip.weft.dev');
  });
});
