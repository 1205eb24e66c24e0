import { Interface } from 'ethers';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { loadSettings } from '../../../services/common/runtime/config.js';
import { sleep, stopAll } from '../../../services/common/runtime/lifecycle.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { scoringSettings } from '../../../services/scoring-operator/config.js';
import { readArtifact } from '../../../services/scoring-operator/contract/artifact.js';
import { derivedChainId } from '../../../services/scoring-operator/contract/rpc.js';
import { describe as inWords, type Step } from '../../../services/scoring-operator/machine/run.js';
import { startScoring } from '../../../services/scoring-operator/main.js';
import { programOf } from '../../../services/scoring-operator/program/program.js';
import { scoringDatabase } from '../../../services/scoring-operator/tables.js';
import { type Anvil, startAnvil } from '../../../tools/dev/anvil.js';
import { startIndexers } from '../../../tools/dev/indexers.js';
import { type SimulatedL1, startSimulatedL1 } from '../../../tools/dev/l1.js';
import { startReplayNode } from '../../../tools/replay/node.js';
import { loadRecording } from '../../../tools/replay/recording.js';
import { testDatabase, uniquePrefix } from '../database.js';
import { type RpcProxy, startRpcProxy } from '../rpc-proxy.js';
import { deployKind, type Kind } from '../score-contract.js';
import { l1InStage } from '../scoring/l1.js';

/** A scoring operator over real indexers and a real EVM, with everything between them open to an attacker. */
export interface ScoringDevnet {
  readonly anvil: Anvil;
  /** Between the operator and the EVM. */
  readonly proxy: RpcProxy;
  readonly l1: SimulatedL1;
  readonly contract: string;
  readonly database: Database;
  /** Database of the operator's tables. */
  readonly tables: string;
  /** Every step of the operator: `kind reason`. */
  readonly steps: readonly string[];
  /** The finalizations of each stage, in order. */
  finalizations(): Promise<bigint[]>;
  /** Waits until a step is this, in the form of `steps`. @throws Error after a minute, with the last steps */
  untilStep(wanted: string): Promise<void>;
  /** A person approves a list. */
  approve(stage: number, list_hash: string): void;
  stop(): Promise<void>;
}

/** Stage 5 lies in the recording and is over; stage 6 runs for long. */
const [start, interval] = [Date.UTC(2026, 10, 21, 9, 18) / 1_000, 130];

/** Starts everything. @param before called when all of it runs but the operator. */
export async function startScoringDevnet(
  kind: Kind,
  before: (net: Pick<ScoringDevnet, 'anvil' | 'proxy'>) => void,
  more: Readonly<Record<string, unknown>> = {},
): Promise<ScoringDevnet> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = stopAll(stops);
  try {
    const [log, metrics] = [createLog('silent'), createMetrics()];
    const recording = loadRecording('evm');
    const node = await startReplayNode({ recording });
    stops.push(() => node.close());
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    const indexers = await startIndexers(node, { database, log, metrics }, prefix);
    stops.push(() => indexers.stop());
    const anvil = await startAnvil({ chain_id: Number(derivedChainId(recording.chainId)) });
    stops.push(() => anvil.stop());
    const contract = await deployKind(anvil, kind, 5n);
    const proxy = await startRpcProxy(anvil.url);
    stops.push(() => proxy.stop());
    const module = { address: '0x1', name: 'vip', prefix: 'initia' };
    const l1 = await startSimulatedL1({
      module,
      state: l1InStage(6n, start + interval, 10_000_000, {
        time: start + interval + 60,
        bridges: [{ bridge_id: 5n, version: 1n, init_stage: 5n, vip_l2_score_contract: contract }],
        past: new Map([[5n, { start_time: start, end_time: start + interval }]]),
      }),
    });
    stops.push(() => l1.close());
    const clock = setInterval(() => l1.advance(1), 200);
    stops.push(async () => clearInterval(clock));
    before({ anvil, proxy });
    const steps: string[] = [];
    const noteStep = (step: Step): void => {
      const { kind: what, reason } = inWords(step.decision);
      steps.push(`${what} ${reason}${step.error === undefined ? '' : `: ${step.error}`}`);
    };
    const env = {
      PRIVATE_KEY: anvil.accounts[0]?.private_key,
      CLICKHOUSE_DATABASE: prefix,
      SCORING_PROGRAM: 'x',
      GRPC_PORT: '0',
      TX_STUCK_SECONDS: '2',
    };
    const program = {
      l1: { urls: [l1.url], module: module.address },
      rollup: { json_rpc_urls: [proxy.url] },
      bridge_id: 5,
      contract,
      policy: { version: 1, name: 'p', rules: [{ kind: 'transactions', name: 'sent', weight: 10 }] },
      approval: 'Automatic',
      margin_seconds: 5,
      poll_seconds: 1,
      ...more,
    };
    const read = programOf(program, 'of the test', packageRoot);
    let rules = read.rules;
    const scoring = await startScoring({
      config: loadSettings(scoringSettings, env),
      program: read,
      rules: () => rules,
      database,
      log,
      metrics,
      addresses: ['127.0.0.1:0'],
      clients: indexers.clients,
      onStep: noteStep,
    });
    stops.push(() => scoring.stop());
    const topic = new Interface(readArtifact('test/artifacts/LenientScore.json').abi as never).getEvent(
      'FinalizeStage',
    )!.topicHash;
    return {
      anvil,
      proxy,
      l1,
      contract,
      database,
      tables: scoringDatabase(prefix),
      steps,
      async finalizations() {
        const filter = { address: contract, fromBlock: '0x0', toBlock: 'latest', topics: [topic] };
        const logs = (await anvil.call('eth_getLogs', filter)) as { data: string }[];
        return logs.map(({ data }) => BigInt(data));
      },
      async untilStep(wanted) {
        const from = steps.length;
        for (let waits = 0; !steps.slice(from).some((step) => step.startsWith(wanted)); waits++) {
          if (waits > 600) throw new Error(`no step ${wanted}: ${steps.slice(-5).join(' | ')}`);
          await sleep(100);
        }
      },
      approve: (stage, list_hash) => {
        rules = { ...rules, approved_stage: BigInt(stage), approved_list: list_hash };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
