import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { runUntilSignal, type Stoppable, stopAll } from '../../services/common/runtime/lifecycle.js';
import { createLog, type Log } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { scoringSettings } from '../../services/scoring-operator/config.js';
import { derivedChainId } from '../../services/scoring-operator/contract/rpc.js';
import { utc } from '../../services/scoring-operator/machine/decide.js';
import type { Step } from '../../services/scoring-operator/machine/run.js';
import { startScoring } from '../../services/scoring-operator/main.js';
import { programOf } from '../../services/scoring-operator/program/program.js';
import { startReplayNode } from '../replay/node.js';
import { loadRecording } from '../replay/recording.js';
import { stepLine } from '../score/print.js';
import { startAnvil } from './anvil.js';
import { deployOnAnvil } from './deploy.js';
import { startIndexers } from './indexers.js';
import { type SimulatedL1, startSimulatedL1 } from './l1.js';

const usage = `weft dev --scoring [--stages N]: a devnet in which stages are scored and finalized

Everything runs in this process, but the node of the contract's chain (anvil): a replayed EVM rollup and its
indexers, a simulated L1 whose time runs five times as fast, our contract, and the operator with approval
Automatic. The contract is on a chain of its own rather than on the replayed rollup, which cannot take txs;
the operator does not mind.

  --stages N   ends after so many stages are finalized; without it, Ctrl-C does
`;

/** L1 seconds in a second of ours. */
const speed = 5;

/** The first stage lies in the recording, so that there is something to score at once. Unix seconds. */
const program = {
  init_stage: 5n,
  start: Date.UTC(2026, 10, 21, 9, 18) / 1000,
  interval: 130,
  module: { address: '0x1', name: 'vip', prefix: 'initia' },
  bridge_id: 5n,
};

/** A policy with which no stage is empty: a list of our own stands beside what was done. */
const policy = {
  version: 1,
  name: 'devnet',
  rules: [
    { kind: 'transactions', name: 'sent', weight: 10 },
    { kind: 'gas_used', name: 'gas', divisor: 100_000 },
    { kind: 'source', name: 'quest', file: 'examples/quest.csv', duplicates: 'refuse' },
  ],
};

/** `weft dev`. */
export async function runDev(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      scoring: { type: 'boolean', default: false },
      stages: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || !values.scoring) {
    process.stdout.write(usage);
    if (!values.help) throw new UserError('say which devnet: --scoring is the one there is');
    return;
  }
  const stages = Number(values.stages ?? 0);
  if (!Number.isSafeInteger(stages) || stages < 0) throw new UserError('--stages must be a whole number');
  const log = createLog('warn', 2);
  await runUntilSignal(log, (signal) => startDevnet(log, stages, signal));
}

async function startDevnet(log: Log, stages: number, signal: AbortSignal): Promise<Stoppable> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'weft-dev-'));
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  const stop = stopAll(stops);
  try {
    const metrics = createMetrics();
    const recording = loadRecording('evm');
    const node = await startReplayNode({ recording, interval_ms: 2_000 / speed });
    stops.push(() => node.close());
    say(`rollup     ${node.url} (replayed, ${node.tip()} blocks and going on)`);
    const database = await openEmbedded(join(folder, 'clickhouse'));
    stops.push(() => database.close());
    const indexers = await startIndexers(node, { database, log, metrics }, 'dev');
    stops.push(() => indexers.stop());
    say(
      `indexers   ${Object.entries(indexers.addresses)
        .map((entry) => entry.join(' '))
        .join(', ')}`,
    );

    // As if it were the replayed rollup: the operator compares which chain everything is of.
    const anvil = await startAnvil({ chain_id: Number(derivedChainId(recording.chainId)) });
    stops.push(() => anvil.stop());
    const contract = await deployOnAnvil(anvil, program.init_stage);
    say(`contract   ${contract} on ${anvil.url} (anvil, which stands for the replayed rollup)`);
    const l1 = await startL1(contract);
    stops.push(() => l1.close());
    const clock = runClock(l1, say);
    stops.push(async () => clearInterval(clock));
    say(`L1         ${l1.url} (simulated, ${speed} times as fast as time is)\n`);

    const env = {
      PRIVATE_KEY: anvil.accounts[0]?.private_key,
      CLICKHOUSE_DATABASE: 'dev',
      SCORING_PROGRAM: 'devnet',
      GRPC_PORT: '0',
    };
    const scoring = await startScoring({
      config: loadSettings(scoringSettings, env),
      program: programOf(
        {
          name: 'devnet',
          l1: { urls: [l1.url], module: program.module.address },
          rollup: { json_rpc_urls: [anvil.url] },
          bridge_id: Number(program.bridge_id),
          contract,
          policy,
          approval: 'Automatic',
          margin_seconds: 20,
          poll_seconds: 1,
        },
        'devnet',
        packageRoot,
      ),
      database,
      log,
      metrics,
      addresses: ['127.0.0.1:0'],
      clients: indexers.clients,
      signal,
      onStep: sayChanges(say, stages),
    });
    stops.push(() => scoring.stop());
    say(`operator   ${scoring.address} (gRPC: indexer.scoring.v1.ScoringService)\n`);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startL1(contract: string): Promise<SimulatedL1> {
  const { init_stage, start, interval, module, bridge_id } = program;
  return startSimulatedL1({
    module,
    state: {
      chain_id: 'devnet-l1',
      stage: init_stage,
      stage_start_time: start,
      stage_end_time: start + interval,
      stage_interval: interval,
      challenge_period: interval,
      time: start + Math.floor(interval * 0.7),
      height: 1_000,
      bridges: [{ bridge_id, version: 1n, init_stage, vip_l2_score_contract: contract }],
      last_submitted_stage: 0n,
      total_l2_scores: 0n,
    },
  });
}

/** Lets the L1's time run, and somebody call the next stage a while after the end of each. */
function runClock(l1: SimulatedL1, say: (text: string) => void): NodeJS.Timeout {
  return setInterval(() => {
    l1.advance(speed);
    const { state } = l1;
    // Later than the margin every second time: a stage is finalized before, or after, the L1 moves on.
    const delay = state.stage % 2n === 0n ? 10 : 45;
    if (state.time < state.stage_end_time + delay) return;
    l1.nextStage();
    say(`L1         stage ${state.stage} until ${utc(state.stage_end_time)}`);
  }, 1_000);
}

/** Says what the operator does, once for each thing; ends the process after so many stages. */
function sayChanges(say: (text: string) => void, stages: number): (step: Step) => void {
  let last = '';
  let finalized = 0;
  return (step) => {
    const line = stepLine(step);
    if (line !== last) say(`operator   ${line}`);
    last = line;
    if (step.decision.kind === 'finalize' && step.error === undefined) finalized += 1;
    if (stages > 0 && finalized === stages) process.kill(process.pid, 'SIGTERM');
  };
}
