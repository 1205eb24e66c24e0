import assert from 'node:assert/strict';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import { derivedChainId } from '../../../services/scoring-operator/contract/rpc.js';
import { cronJobs, jobs } from '../../../services/scoring-operator/kubernetes/api.js';
import type { Job, Status } from '../../../services/scoring-operator/operator/resource.js';
import { type Anvil, startAnvil } from '../../../tools/dev/anvil.js';
import { type Indexers, startIndexers } from '../../../tools/dev/indexers.js';
import { type SimulatedL1, startSimulatedL1 } from '../../../tools/dev/l1.js';
import { startReplayNode } from '../../../tools/replay/node.js';
import { loadRecording } from '../../../tools/replay/recording.js';
import { eventually } from '../block.js';
import { serveClickHouse } from '../clickhouse-server.js';
import { testDatabase, uniquePrefix } from '../database.js';
import { deployKind, plainContract } from '../score-contract.js';
import { l1InStage } from '../scoring/l1.js';
import { interval, questFile, start } from '../scoring/recorded-stages.js';
import { type Kubelet, type RunningPod, startKubelet } from './kubelet.js';
import { makeNamespace, type TestNamespace } from './namespace.js';
import { type OperatorProcess, startOperatorProcess } from './operator-process.js';
import { never, sampleProgram } from './programs.js';

/** How long a stage lasts as the L1 says while it runs: its end no test lives to see. */
export const longest = 1_000_000;

const policy = `version: 1
name: in_cluster
rules:
  - {kind: transactions, name: sent, weight: 10}
  - {kind: source, name: quest, file: quest.csv, duplicates: refuse}
`;

const rfc3339 = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** A CronJob with what is looked at here. */
export interface CronJob {
  readonly metadata: { readonly uid: string };
  readonly spec: {
    readonly suspend: boolean;
    readonly jobTemplate: { readonly spec: unknown; readonly metadata: object };
  };
}

/** A cluster with an operator and a kubelet, an L1, an indexed rollup and its EVM. */
export interface StageWorld {
  readonly chain_id: string;
  readonly space: TestNamespace;
  readonly anvil: Anvil;
  readonly l1: SimulatedL1;
  readonly indexers: Indexers;
  readonly operator: OperatorProcess;
  readonly kubelet: Kubelet;
  /** Where programs keep their tables, which no other world shares: contracts have the same addresses there. */
  readonly tables: { readonly url: string; readonly database: string };
  /** Puts the L1 into a stage. Programs are told when stage 5 was. */
  inStage(stage: bigint): void;
  /** Makes a program with a contract of its own, and waits for its CronJobs. @returns the contract's address */
  create(name: string, more?: { finalize?: object; spec?: object }): Promise<string>;
  /** Removes programs that are there. */
  remove(names: readonly string[]): Promise<void>;
  cronJob(name: string): Promise<CronJob | undefined>;
  /** What `kubectl create job --from` does. @returns the Job's name */
  startJob(from: string): Promise<string>;
  /** Waits until a Job has ended in this way. */
  ends(job: string, wanted: 'Complete' | 'Failed'): Promise<void>;
  podsOf(job: string): readonly RunningPod[];
  /** Waits for the first pod of a Job. */
  podOf(job: string): Promise<RunningPod>;
  statusOf(name: string): Promise<Status>;
  /** Waits until a condition has a reason. */
  reason(name: string, type: string, wanted: string): Promise<void>;
  finalizedBy(contract: string): Promise<readonly unknown[]>;
  /** Makes blocks only every second, or with every tx again: a Job that is met in the middle must not be done by then. */
  mineSlowly(isSlow: boolean): Promise<unknown>;
  /** Txs that the first account has sent. */
  sent(): Promise<number>;
  suspended(name: string): Promise<boolean | undefined>;
  /** Waits until the CronJob that finalizes for a program may start Jobs, or may not. */
  gate(program: string, wanted: 'open' | 'closed'): Promise<void>;
  /** What the operator and the pods have written, for a test that has failed. */
  said(): string;
  stop(): Promise<void>;
}

/** Starts everything. */
export async function startStageWorld(): Promise<StageWorld> {
  const recording = loadRecording('evm');
  const chain_id = recording.chainId;
  const anvil = await startAnvil({ chain_id: Number(derivedChainId(chain_id)) });
  const node = await startReplayNode({ recording, tip: 400 });
  const database = await testDatabase();
  const tools = { database, log: createLog('silent'), metrics: createMetrics() };
  const prefix = uniquePrefix();
  const indexers = await startIndexers(node, tools, prefix);
  const tables = await serveClickHouse(database);
  const l1 = await startSimulatedL1({
    module: { address: '0x1', name: 'vip', prefix: 'initia' },
    state: l1InStage(5n, start, interval),
  });
  const clock = setInterval(() => l1.advance(1), 100);
  const space = await makeNamespace();
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
  const operator = await startOperatorProcess(space, {
    CLICKHOUSE_URL: tables.url,
    CLICKHOUSE_DATABASE: prefix,
    // Nothing here is about leadership, which a busy machine would take away.
    LEADER_LEASE_SECONDS: '60',
  });
  // Few scores in a tx, so that there is a middle.
  const kubelet = startKubelet(space, { TX_MAX_SCORES: '6', LEASE_SECONDS: '15', LOG_LEVEL: 'debug' });
  await eventually(() => operator.ready(), 'the operator', 60_000);
  let made = 0;

  const world: StageWorld = {
    chain_id,
    space,
    anvil,
    l1,
    indexers,
    operator,
    kubelet,
    tables: { url: tables.url, database: prefix },
    inStage(stage) {
      const stage_start_time = start + Number(stage - 5n) * interval;
      Object.assign(l1.state, { stage, stage_start_time, stage_end_time: stage_start_time + longest });
      l1.state.time = Math.max(l1.state.time, stage_start_time + 30);
    },
    async create(name, more = {}) {
      const contract = await deployKind(anvil, 'ours', 5n);
      await space.create(
        sampleProgram(name, {
          chainId: chain_id,
          pollSeconds: 1,
          // Nothing that was seen says when it was.
          windows: [{ stage: 5, startTime: rfc3339(start), endTime: rfc3339(start + interval) }],
          contract: { address: contract },
          signer: { address: anvil.accounts[0]!.address, secretRef: { name: 'signer' } },
          clickhouse: { secretRef: { name: 'clickhouse' }, database: prefix },
          endpoints: {
            l1: { urls: [l1.url], module: '0x1', standstillSeconds: 3 },
            rollup: { jsonRpcUrls: [anvil.url] },
            indexers: indexers.addresses,
          },
          policy: { configMapRef: { name: 'policy' } },
          finalize: { schedule: never, delayAfterStageEnd: '20s', ...more.finalize },
          ...more.spec,
        }),
      );
      await eventually(async () => (await world.cronJob(`${name}-finalize`)) !== undefined, 'the CronJobs');
      return contract;
    },
    async remove(names) {
      for (const name of names) {
        const program = await space.get(name);
        if (program !== undefined) await space.remove(program);
      }
    },
    cronJob: (name) => space.api.get(cronJobs, namespace, name),
    async startJob(from) {
      const source = (await world.cronJob(from)) as CronJob;
      const name = `${from}-${++made}`;
      await space.api.create(jobs, namespace, {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {
          ...source.spec.jobTemplate.metadata,
          name,
          ownerReferences: [
            {
              apiVersion: 'batch/v1',
              kind: 'CronJob',
              name: from,
              uid: source.metadata.uid,
              controller: true,
            },
          ],
        },
        spec: source.spec.jobTemplate.spec,
      });
      return name;
    },
    async ends(name, wanted) {
      let found: string | undefined;
      await eventually(
        async () => {
          found = (await space.api.get<Job>(jobs, namespace, name))?.status?.conditions?.find(
            ({ type, status }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
          )?.type;
          return found !== undefined;
        },
        `the Job ${name} to end`,
        120_000,
      );
      const said = (): string =>
        world
          .podsOf(name)
          .map((pod) => pod.output())
          .join('\n');
      assert.equal(found, wanted, said());
    },
    podsOf: (job) => kubelet.pods.filter(({ name }) => name.startsWith(`${job}-`)),
    async podOf(job) {
      await eventually(() => world.podsOf(job).length > 0, `a pod of ${job}`, 30_000);
      return world.podsOf(job)[0] as RunningPod;
    },
    statusOf: async (name) => (await space.get(name))?.status ?? {},
    reason(name, type, wanted) {
      let found: unknown;
      return eventually(
        async () => {
          found = (await world.statusOf(name)).conditions?.find((one) => one.type === type);
          return (found as { reason?: string } | undefined)?.reason === wanted;
        },
        `${type} of ${name} to be ${wanted}`,
        45_000,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${JSON.stringify(found)}`);
      });
    },
    finalizedBy: async (contract) =>
      (await plainContract(anvil, contract).queryFilter('FinalizeStage', 0)).map((event) =>
        'args' in event ? event.args[0] : undefined,
      ),
    mineSlowly: (isSlow) =>
      isSlow ? anvil.call('evm_setIntervalMining', 1) : anvil.call('evm_setAutomine', true),
    sent: async () =>
      Number(await anvil.call('eth_getTransactionCount', anvil.accounts[0]!.address, 'latest')),
    suspended: async (name) => (await world.cronJob(name))?.spec.suspend,
    gate: (program, wanted) =>
      eventually(
        async () => (await world.suspended(`${program}-finalize`)) === (wanted === 'closed'),
        `the gate of ${program} to be ${wanted}`,
        30_000,
      ),
    said: () =>
      [
        operator.output().slice(-4_000),
        ...kubelet.pods.map((pod) => `${pod.name}\n${pod.output().slice(-3_000)}`),
      ].join('\n'),
    async stop() {
      clearInterval(clock);
      await kubelet.stop();
      await operator.kill();
      await tables.close();
      await l1.close();
      await indexers.stop();
      await node.close();
      await anvil.stop();
    },
  };
  return world;
}
