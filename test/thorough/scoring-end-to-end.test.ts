import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { computeScores } from '../../services/scoring-operator/policy/compute.js';
import { gatherFacts } from '../../services/scoring-operator/policy/gather/gather.js';
import { loadPolicy } from '../../services/scoring-operator/policy/load.js';
import { findWindow } from '../../services/scoring-operator/policy/window.js';
import { type Anvil, startAnvil } from '../../tools/dev/anvil.js';
import { type Indexers, startIndexers } from '../../tools/dev/indexers.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { anvilOrSkip } from '../support/anvil.js';
import { eventually } from '../support/block.js';
import { serveClickHouse } from '../support/clickhouse-server.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { documentedGrants } from '../support/documented-grants.js';
import { engineAccount } from '../support/engine-account.js';
import { temporaryFolder } from '../support/folder.js';
import { isWhole } from '../support/sample.js';
import { clientOf, deployKind, type Kind, plainContract } from '../support/score-contract.js';
import { l1InStage } from '../support/scoring/l1.js';
import { interval, quest, questFile, start } from '../support/scoring/recorded-stages.js';
import { startWeft as spawnWeft, type WeftProcess } from '../support/scoring/run-weft.js';
import { endsAfterEach } from '../support/suite.js';

const module = { address: '0x1', name: 'vip', prefix: 'initia' };

const policy = `version: 1
name: end_to_end
rules:
  - {kind: transactions, name: sent, weight: 10}
  - {kind: gas_used, name: gas, divisor: 100000}
  - {kind: source, name: quest, file: quest.csv, duplicates: refuse}
`;

describe('weft score as a process of its own', () => {
  const folder = temporaryFolder('score');
  let node: ReplayNode;
  let indexers: Indexers;
  let anvil: Anvil;
  let l1: SimulatedL1;
  const endLater = endsAfterEach();

  before(async function () {
    anvil = await anvilOrSkip(this);
    node = await startReplayNode({ recording: 'evm', tip: 400 });
    const tools = { database: await testDatabase(), log: createLog('silent'), metrics: createMetrics() };
    indexers = await startIndexers(node, tools, uniquePrefix());
    l1 = await startSimulatedL1({
      module,
      state: l1InStage(5n, start, interval),
    });
    writeFileSync(join(folder, 'quest.csv'), questFile);
    writeFileSync(join(folder, 'policy.yaml'), policy);
  });
  afterEach(() => {
    l1.fault = 'none';
    l1.state.bridges = [];
  });
  after(async () => {
    await l1?.close();
    await indexers?.stop();
    await node?.close();
    await anvil?.stop();
  });

  /** Starts a command that does not outlive its test. */
  const startWeft = (...args: Parameters<typeof spawnWeft>): WeftProcess => {
    const process = spawnWeft(...args);
    endLater(() => process.child.kill('SIGKILL'));
    return process;
  };

  /** Txs that the first account has sent. */
  const sent = async (): Promise<number> =>
    Number(await anvil.call('eth_getTransactionCount', anvil.accounts[0]!.address, 'latest'));

  /** Writes a program and gives what `weft score` needs for it. */
  function prepare(
    contract: string,
    name: string,
    more: Readonly<Record<string, unknown>> = {},
    variables: Readonly<Record<string, string>> = {},
  ) {
    const program = {
      l1: { urls: [l1.url], module: module.address, standstill_seconds: 3 },
      rollup: { json_rpc_urls: [anvil.url], evm_chain_id: 31_337 },
      indexers: indexers.addresses,
      contract,
      policy: 'policy.yaml',
      approval: 'Automatic',
      margin_seconds: 20,
      poll_seconds: 1,
      ...more,
    };
    const path = join(folder, `${name}.yaml`);
    writeFileSync(path, JSON.stringify(program));
    const env = {
      PRIVATE_KEY: anvil.accounts[0]!.private_key,
      DATA_DIR: join(folder, name),
      // Few in a tx, so that there is a middle.
      TX_MAX_SCORES: '12',
      LOG_LEVEL: 'debug',
      ...variables,
    };
    const start = (...args: string[]): WeftProcess => startWeft(['score', '--program', path, ...args], env);
    return { start, env, path };
  }

  /** Runs a command to its end. */
  async function end(process: WeftProcess, code: number): Promise<string> {
    assert.equal(await process.ended, code, process.output());
    return process.output();
  }

  /** The L1 as it is in a stage, at so many seconds after its start; its time moves on by itself. */
  function inStage(stage: bigint, seconds: number, first = 5n): void {
    const stage_start_time = start + Number(stage - first) * interval;
    Object.assign(l1.state, { stage, stage_start_time, stage_end_time: stage_start_time + interval });
    l1.state.time = stage_start_time + seconds;
    l1.state.past = new Map();
    for (let past = first; past < stage; past++) {
      const start_time = start + Number(past - first) * interval;
      l1.state.past.set(past, { start_time, end_time: start_time + interval });
    }
    l1.isStanding = false;
    const clock = setInterval(() => l1.advance(0.1), 200);
    endLater(() => clearInterval(clock));
  }

  /** What the policy gives on paper: computed here, without the machine. */
  async function onPaper(stage: bigint, first: bigint) {
    const loaded = await loadPolicy(join(folder, 'policy.yaml'), 'init');
    const start_time = start + Number(stage - first) * interval;
    const signal = new AbortController().signal;
    const times = { stage, start_time, end_time: start_time + interval };
    const found = await findWindow(loaded.policy, times, indexers.clients, signal);
    assert.equal(found.kind, 'complete');
    const window = (found as Extract<typeof found, { kind: 'complete' }>).window;
    const facts = await gatherFacts(loaded.policy, window, indexers.clients, {
      account_prefix: 'init',
      signal,
    });
    return computeScores(loaded.policy, facts);
  }

  /** The contract has what the policy says, and every stage was finalized by one tx. */
  async function judge(contract: string, stages: readonly bigint[], chain = anvil): Promise<void> {
    const reader = clientOf(chain.url, contract, { private_key: chain.accounts[0]!.private_key });
    for (const stage of stages) {
      const expected = await onPaper(stage, stages[0]!);
      const found = (await reader.contract.scores(stage)).filter(({ amount }) => amount > 0n);
      const sorted = [...found].sort((a, b) => (a.address < b.address ? -1 : 1));
      assert.deepEqual(sorted, expected.scores, `scores of stage ${stage}`);
      const { is_finalized, total_score } = (await reader.contract.stage(stage))!;
      assert.deepEqual([is_finalized, total_score], [true, expected.total]);
    }
    await reader.endpoints.close();
    const plain = plainContract(chain, contract);
    const events = await plain.queryFilter('FinalizeStage', 0);
    assert.deepEqual(
      events.map((event) => ('args' in event ? event.args[0] : undefined)),
      stages,
      'each stage is finalized once, in order',
    );
  }

  // Other tests score on a contract of ours; the oldest differs from it the most.
  const kinds: readonly Kind[] = isWhole ? ['ours', 'lenient', 'oldest'] : ['oldest'];
  for (const kind of kinds) {
    it(`catches up in order and loses nothing to kill -9 in the middle (${kind} contract)`, async () => {
      const contract = await deployKind(anvil, kind, 5n);
      // The oldest contract begins with stage 1, whoever deploys it.
      const first = kind === 'oldest' ? 1n : 5n;
      inStage(first + 2n, 30, first);
      const { start: run } = prepare(contract, `kill-${kind}`, kind === 'oldest' ? { start_stage: 1 } : {});
      for (const txs of [1, 4, 6]) {
        const from = await sent();
        const process = run('--once');
        const enough = eventually(async () => (await sent()) >= from + txs, `${txs} txs`, 20_000).catch(
          () => {},
        );
        await Promise.race([enough, process.ended]);
        process.child.kill('SIGKILL');
        await process.ended;
      }
      assert.match(await end(run('--once'), 0), new RegExp(`stage ${first + 2n} runs until`));
      await judge(contract, [first, first + 1n]);
      const again = await sent();
      await end(run('--once'), 0);
      assert.equal(await sent(), again, 'a job that runs twice sends nothing');
    });
  }

  it('scores two programs side by side over one ClickHouse server, and takes over from one that was killed', async () => {
    const server = await serveClickHouse(await testDatabase());
    endLater(server.close);
    const other = await startAnvil({ chain_id: 31_338 });
    endLater(() => other.stop());
    inStage(6n, 30);
    const variables = {
      CLICKHOUSE_URL: server.url,
      CLICKHOUSE_DATABASE: uniquePrefix(),
      WRITER_LEASE_MS: '3000',
    };
    const [first, second] = [await deployKind(anvil, 'ours', 5n), await deployKind(other, 'ours', 5n)];
    const rollup = { json_rpc_urls: [other.url], evm_chain_id: 31_338 };
    const one = prepare(first, 'side-one', {}, variables);
    const two = prepare(second, 'side-two', { rollup }, variables);
    const before = await sent();
    const killed = one.start('--once');
    await eventually(async () => (await sent()) !== before, 'a tx', 30_000);
    killed.child.kill('SIGKILL');
    await killed.ended;
    // The second one need not wait for the first: their rows have writers of their own.
    const both = [one.start('--once'), two.start('--once')] as const;
    for (const process of both) assert.match(await end(process, 0), /stage 6 runs until/);
    assert.match(both[0].output(), /writes the rows of the program .* waiting until it has ended/);
    assert.doesNotMatch(both[1].output(), /waiting until it has ended/);
    await judge(first, [5n]);
    await judge(second, [5n], other);
  });

  it('shows what it would do, then waits for approval, then explains what it did', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    inStage(6n, 30);
    const manual = prepare(contract, 'manual', { approval: 'Manual' });
    const dry = await end(manual.start('--once', '--dry-run'), 0);
    assert.match(dry, /would do: score stage 5/);
    assert.match(dry, /to be sent: 6\d/);
    const waiting = await end(manual.start('--once'), 0);
    const [, approved_list] = /approval of its list ([0-9a-f]{64}) .*\(ApprovalNeeded\)/.exec(waiting) ?? [];
    assert.match(await end(manual.start('--show', '5'), 0), new RegExp(`list ${approved_list}`));
    const approved = prepare(contract, 'manual', { approval: 'Manual', approved_stage: 5, approved_list });
    assert.match(await end(approved.start('--once'), 0), /stage 6 runs until/);
    await judge(contract, [5n]);

    const status = await end(approved.start('--show', 'status'), 0);
    assert.match(status, /last scored 5, last finalized 5/);
    const stage = await end(approved.start('--show', '5'), 0);
    for (const part of ['read back: yes, finalized: yes', 'name: end_to_end', 'finalize', 'strays', 'total'])
      assert.ok(stage.includes(part), `${part} in ${stage}`);
    const [address, amount] = quest[59]!.split(',');
    assert.match(
      await end(approved.start('--show', address!), 0),
      new RegExp(
        `5\\s+${amount}\\s+\\d+\\s+yes[^]*how stage 5 came to it[^]*transactions[^]*total\\s+.*\\s${amount}\\n`,
      ),
    );
  });

  it('zeroes strays before it finalizes', async () => {
    const contract = await deployKind(anvil, 'lenient', 5n);
    const plain = plainContract(anvil, contract);
    const stray = `0x${'9'.repeat(40)}`;
    await (
      await plain.getFunction('updateScores').send(5n, [stray], [1234n], { gasPrice: 0, type: 0 })
    ).wait();
    inStage(6n, 30);
    await end(prepare(contract, 'strays').start('--once'), 0);
    await judge(contract, [5n]);
  });

  it('scores with an account of ClickHouse that may do what is documented, and tells with that of the operator', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    const account = engineAccount(join(folder, 'account'));
    const { env, path } = prepare(contract, 'granted');
    const runIn = (DATA_DIR: string, ...args: string[]): WeftProcess =>
      startWeft(args, { ...env, DATA_DIR, MIGRATIONS: 'check' }, account.cwd);
    const run = (...args: string[]): WeftProcess => runIn(account.data_dir, ...args);
    account.grant(documentedGrants(/`migrations`/));
    // Where scoring keeps its tables when it has no server.
    await end(runIn(join(account.data_dir, 'scoring'), 'migrate'), 0);
    inStage(6n, 30);
    account.grant(documentedGrants(/`scoringOperator`/));
    assert.match(await end(run('score', '--program', path, '--once'), 75), /Not enough privileges.*INSERT/);
    account.grant(documentedGrants(/`scoringOperator\.jobs`/));
    await end(run('score', '--program', path, '--once'), 0);
    await judge(contract, [5n]);
    account.grant(documentedGrants(/`scoringOperator`/));
    assert.match(await end(run('score', '--program', path, '--show', 'status'), 0), /stage 5\b/);
  });

  it('sends nothing while the L1 cannot be read, stands still, or has another contract registered', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    const before = await sent();
    inStage(6n, 30);
    const { start: run } = prepare(contract, 'refusals', { bridge_id: 5 });
    // What else an L1 may answer its client is tried with in scoring-l1.
    for (const fault of isWhole
      ? (['html', 'cut', 'not_found', 'refuse'] as const)
      : (['cut', 'refuse'] as const)) {
      l1.fault = fault;
      assert.match(await end(run('--once'), 75), /L1Unreadable/);
    }
    l1.fault = 'none';
    l1.isStanding = true;
    assert.match(await end(run('--once'), 75), /L1StandsStill/);
    l1.isStanding = false;
    l1.state.bridges = [
      { bridge_id: 5n, version: 1n, init_stage: 5n, vip_l2_score_contract: `0x${'8'.repeat(40)}` },
    ];
    assert.match(await end(run('--once'), 1), /ALARM.*OtherContractRegistered/);
    l1.state.bridges = [{ bridge_id: 5n, version: 1n, init_stage: 4n, vip_l2_score_contract: contract }];
    assert.match(await end(run('--once'), 1), /ALARM.*InitStageTooLate/);
    assert.equal(await sent(), before);
  });

  it('sends nothing to a chain that is not the indexed one, whichever URL leads there', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    const other = await startAnvil({ chain_id: 5 });
    endLater(() => other.stop());
    const before = await sent();
    inStage(6n, 30);
    const chains = async (name: string, rollup: object): Promise<string> =>
      end(prepare(contract, name, { rollup }).start('--once'), 1);
    const own = { json_rpc_urls: [anvil.url] };
    const unsaid = prepare(contract, 'chain-unsaid', { rollup: own }).start('--dry-run');
    const said = await end(unsaid, 0);
    assert.match(said, /warn.*31337.*minievm-rec-1.*rollup\.evm_chain_id/i);
    assert.doesNotMatch(said, /OtherChain/);
    assert.match(
      await chains('chain-index', { ...own, chain_id: 'else-1' }),
      /ALARM.*for else-1.*OtherChain/,
    );
    assert.match(await chains('chain-said', { ...own, evm_chain_id: 5 }), /EVM_CHAIN_ID is 5/);
    const second = { json_rpc_urls: [anvil.url, other.url], evm_chain_id: 31_337 };
    const differing = { json_rpc_urls: [anvil.url, other.url] };
    assert.match(await chains('chain-differing', differing), /ALARM.*EVM chain id 5.*different.*OtherChain/);
    assert.match(await chains('chain-second', second), /ALARM.*EVM chain id 5.*OtherChain/);
    assert.equal(await sent(), before);
  });

  it('waits for a person where nobody says when a stage was, or counts back where that is allowed', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    inStage(7n, 30);
    l1.state.past = new Map();
    const before = await sent();
    assert.match(await end(prepare(contract, 'cold').start('--once'), 1), /stage 5 was.*\(WindowUnknown\)/);
    assert.equal(await sent(), before);
    await end(prepare(contract, 'cold', { count_intervals: true }).start('--once'), 0);
    await judge(contract, [5n, 6n]);
  });

  it('never shows the key: not in what it prints, its tables, errors or the list of processes', async () => {
    const contract = await deployKind(anvil, 'ours', 5n);
    const key = anvil.accounts[1]!.private_key.slice(2);
    inStage(6n, 30);
    const { start: run, env } = prepare(contract, 'secret');
    env.PRIVATE_KEY = `0x${key}`;
    const denied = run('--once');
    let processes = '';
    while (denied.child.exitCode === null) {
      processes += execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const output = await end(denied, 1);
    assert.match(output, /NotAllowed/, 'the second account is not on the allow list');
    assert.ok(processes.includes('score --program'), 'the list of processes was looked at');
    env.PRIVATE_KEY = `${key}ff`;
    const wrong = await end(run('--once'), 1);
    assert.match(wrong, /PRIVATE_KEY/);
    const files = readdirSync(join(folder, 'secret'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    assert.ok(files.length > 0);
    for (const text of [output, wrong, processes, ...files]) {
      assert.ok(!text.toLowerCase().includes(key.toLowerCase()), 'the key was shown');
    }
  });
});
