import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Database } from '../../services/common/clickhouse/database.js';
import { ScoringServiceClient } from '../../services/common/gen/indexer/scoring/v1/scoring.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { type RpcServer, serveRpc } from '../../services/common/rpc/server.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { compute } from '../../services/scoring-operator/policy/compute.js';
import { describeRun, explain } from '../../services/scoring-operator/policy/explain.js';
import { parsePolicy } from '../../services/scoring-operator/policy/parse.js';
import type { Facts } from '../../services/scoring-operator/policy/policy.js';
import { hashOfScores } from '../../services/scoring-operator/policy/result.js';
import { type Program, programOf } from '../../services/scoring-operator/program/program.js';
import { scoringService } from '../../services/scoring-operator/rpc.js';
import { readFacts } from '../../services/scoring-operator/store/facts.js';
import { readPrograms } from '../../services/scoring-operator/store/read.js';
import type { Run, StageTx } from '../../services/scoring-operator/store/rows.js';
import { openScoringStore, type ScoringStore } from '../../services/scoring-operator/store/store.js';
import { makeTables } from '../../services/scoring-operator/tables.js';
import { forgetFinalized, forgetHeight, forgetStage } from '../../tools/score/forget.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { ask } from '../support/rpc.js';
import { counting } from '../support/statements.js';

const largest = 2n ** 64n - 1n;
const address = (index: number): string => `0x${index.toString(16).padStart(40, '0')}`;
const scores = Array.from({ length: 250 }, (_, index) => ({
  address: address(index + 1),
  amount: index === 7 ? largest - 100_000n : BigInt(index + 1),
}));
const list = {
  scores,
  total: scores.reduce((sum, { amount }) => sum + amount, 0n),
  hash: hashOfScores(scores),
};
const run: Run = {
  stage: largest - 1n,
  window: { stage: largest - 1n, start_time: 10, end_time: 20, from_height: 3, to_height: 9 },
  to_hash: 'AB'.repeat(32),
  policy_hash: 'p',
  list_hash: list.hash,
  score_count: 250,
  total: list.total,
  counts: {
    without: { excluded: 1, zero_address: 0, below_one: 2, below_minimum: 3 },
    capped: 4,
    fitted: 5,
  },
  is_verified: false,
  is_finalized: false,
  error: '',
  attempts: 1,
  created_at: 1,
  updated_at: 2,
};
const tx: StageTx = {
  stage: run.stage,
  tx_hash: '0x1',
  purpose: 'update',
  account: '0xme',
  nonce: 3,
  score_count: 250,
  list_hash: list.hash,
  state: 'signed',
  height: 0,
  gas_used: 0n,
  error: '',
  created_at: 1,
  updated_at: 1,
};

describe('the tables and the API of the scoring operator', () => {
  const program = '31337/0xabc';
  let database: Database;
  let name: string;
  let store: ScoringStore;
  let server: RpcServer;
  let client: ScoringServiceClient;
  let seen: { most: number };

  before(async () => {
    database = await testDatabase();
    name = await makeTables(database, {
      CLICKHOUSE_DATABASE: uniquePrefix(),
      CLICKHOUSE_CLUSTER: '',
      MIGRATIONS: 'apply',
    });
    store = await open(program);
    const watched = counting(database);
    seen = watched.seen;
    const service = scoringService({
      log: createLog('silent'),
      metrics: createMetrics(),
      source: { database: watched.counted, database_name: name, program },
      account: '0xme',
      account_prefix: 'init',
      status: () => ({ step: undefined, at: 0, failures: 2, trouble: 'x' }),
    });
    server = await serveRpc([service], ['127.0.0.1:0']);
    client = connectRpc(ScoringServiceClient, server.address);
  });
  after(async () => {
    client.close();
    await server.close(0);
  });

  const open = (of: string, over = database): Promise<ScoringStore> =>
    openScoringStore(soleWriter(over), name, of);

  /** A program of a contract, as a person writes it down. */
  const programAt = (contract: string, evm_chain_id?: number): Program =>
    programOf(
      {
        l1: { urls: ['http://l1'], module: '0x1' },
        rollup: { json_rpc_urls: ['http://n'], ...(evm_chain_id === undefined ? {} : { evm_chain_id }) },
        contract,
        policy: 'p.yaml',
      },
      'of the test',
      '/',
    );
  const forgetting = () => ({ database, database_name: name, lease_ms: 1_000, log: createLog('silent') });

  it('keep what was written last of a key, also when it is opened anew and the clock is of no use', async () => {
    await store.saveRun(run);
    await store.saveRun({ ...run, is_verified: true });
    const again = await open(program);
    await again.saveRun({ ...run, is_verified: true, is_finalized: true });
    assert.deepEqual(await store.run(run.stage), { ...run, is_verified: true, is_finalized: true });
    assert.deepEqual(await store.runs(), [{ ...run, is_verified: true, is_finalized: true }]);
    // Two processes at once: the later of them counts, whoever had begun first.
    await store.saveRun({ ...run, error: 'later' });
    assert.deepEqual(await again.run(run.stage), { ...run, error: 'later' });
    await again.saveRun({ ...run, is_verified: true, is_finalized: true });
    await again.saveTx(tx);
    await again.saveTx({ ...tx, state: 'mined', height: 5, gas_used: largest });
    assert.deepEqual(await store.txs(run.stage), [{ ...tx, state: 'mined', height: 5, gas_used: largest }]);
    await again.noteStage({ stage: 5n, start_time: 1, end_time: 2 });
    await again.noteStage({ stage: 5n, start_time: 1, end_time: 3 });
    assert.deepEqual(await store.seenStages(), [{ stage: 5n, start_time: 1, end_time: 3 }]);
  });

  it('give a list only when it is whole', async () => {
    assert.equal(await store.list(run.stage, list.hash), undefined);
    await store.saveList(run.stage, { ...list, scores: scores.slice(0, 100) });
    assert.equal(await store.list(run.stage, list.hash), undefined, 'half of it');
    assert.equal(await store.list(run.stage, 'other'), undefined);
  });

  it('give a list as it was, digit by digit', async () => {
    const stage = 6n;
    await store.saveList(stage, list);
    await store.saveList(stage, list);
    assert.deepEqual(await store.list(stage, list.hash), list);
    assert.deepEqual((await store.addressScore(stage, list.hash, address(8)))?.amount, largest - 100_000n);
    await store.saveRun({ ...run, stage, window: { ...run.window, stage } });
  });

  it('show programs apart', async () => {
    const other = await open('31337/0xdef');
    assert.deepEqual(await other.runs(), []);
    assert.equal(await other.lastDecision(), undefined);
    await other.logDecision({ at: 1, kind: 'wait', reason: 'R', message: 'm', stage: 0n });
    assert.deepEqual(await readPrograms(database, name), [program, '31337/0xdef']);
    assert.equal(await store.lastDecision(), undefined);
  });

  it('page through the scores of a stage from the largest, or from the smallest', async () => {
    for (const reverse of [true, false]) {
      const all: { address: string; amount: string; rank: number }[] = [];
      let key = '';
      do {
        const pagination = { key, offset: 0, limit: 60, count_total: true, reverse };
        const page = await ask(client).listScores({ stage: '6', pagination });
        all.push(...page.scores);
        assert.equal(page.pagination?.total, '250');
        key = page.pagination?.next_key ?? '';
      } while (key !== '');
      const ranks = all.map(({ rank }) => rank);
      const expected = Array.from({ length: 250 }, (_, index) => index + 1);
      assert.deepEqual(ranks, reverse ? expected : expected.reverse());
      const top = all.find(({ rank }) => rank === 1);
      assert.deepEqual([top?.address, top?.amount], [address(8), String(largest - 100_000n)]);
    }
  });

  it('answer about stages, addresses, decisions and the state of things', async () => {
    await store.savePolicy('p', 'the policy');
    await store.saveTx({ ...tx, stage: 6n });
    const check = {
      stage: 6n,
      at: 5,
      list_hash: list.hash,
      name: 'total',
      is_ok: true,
      expected: '1',
      found: '1',
    };
    await store.saveChecks([check]);
    await store.logDecision({ at: 7, kind: 'score', reason: 'StageOver', message: 'm', stage: 6n });
    const found = await ask(client).getStage({ stage: '6' });
    assert.deepEqual(
      [found.stage?.total, found.policy, found.txs.length, found.checks[0]?.name],
      [String(list.total), 'the policy', 1, 'total'],
    );
    const { scores: own } = await ask(client).listScoresByAddress({ address: address(8) });
    assert.deepEqual(own.at(0), {
      stage: '6',
      amount: String(largest - 100_000n),
      rank: 1,
      is_finalized: false,
    });
    const { decisions } = await ask(client).listDecisions({ limit: 10 });
    assert.deepEqual(decisions, [{ at: 7, kind: 'score', reason: 'StageOver', message: 'm', stage: '6' }]);
    const status = await ask(client).getStatus({});
    assert.deepEqual(
      [status.program, status.account, status.failures, status.error, status.last_finalized_stage],
      [program, '0xme', 2, 'x', String(run.stage)],
    );
    const { stages } = await ask(client).listStages({});
    assert.deepEqual(
      stages.map(({ stage }) => stage),
      ['6', String(run.stage)],
    );
  });

  it('explain a score by what was measured for it, whatever the index and the source say by now', async () => {
    const rules = `rules: [{ kind: transactions, name: sent }, { kind: source, name: given, file: given.csv, weight: 2 }]`;
    for (const [index, head] of [
      'version: 1\nname: plain',
      'version: 1\nname: fitted\nfit_total: 50',
    ].entries()) {
      const stage = BigInt(20 + index);
      const text = `${head}\n${rules}\n`;
      const policy = parsePolicy(text, { from: 'of the test', account_prefix: 'init' });
      const window = { ...run.window, stage };
      const [ours, other] = [1, 2].map((n) => address(n).slice(2)) as [string, string];
      const source = { location: '/tmp/given.csv', sha256: 'c'.repeat(64), bytes: 33, etag: '"v1"' };
      const facts: Facts = {
        window,
        to_hash: 'CD'.repeat(32),
        measures: new Map([
          ['sent', { values: new Map([[ours, 7n]]), denominator: 1n, left_out: 1 }],
          [
            'given',
            {
              values: new Map([
                [ours, 10n ** 30n],
                [other, 3n * 10n ** 30n],
              ]),
              denominator: 10n ** 29n,
              left_out: 0,
              source,
            },
          ],
        ]),
      };
      const computation = compute(policy, facts);
      const { without, capped, fitted } = describeRun(policy, facts, computation);
      await store.savePolicy(policy.hash, text);
      await store.saveFacts(stage, computation.list.hash, facts);
      await store.saveFacts(stage, computation.list.hash, facts);
      await store.saveList(stage, computation.list);
      await store.saveRun({
        ...{ ...run, stage, window, to_hash: facts.to_hash, policy_hash: policy.hash },
        ...{ list_hash: computation.list.hash, counts: { without, capped, fitted } },
      });

      const asked = { stage: String(stage), address: address(1) };
      const explained = await ask(client).explainScore(asked);
      assert.deepEqual(
        explained.reasons,
        explain(policy, facts, address(1), 'init').map((reason) => ({
          ...reason,
          amount: String(reason.amount),
        })),
      );
      assert.equal(explained.amount, index === 0 ? '27' : '15');
      assert.equal(explained.reasons.at(-1)?.amount, explained.amount);
      const found = await ask(client).getStage({ stage: String(stage) });
      assert.equal(found.stage?.to_hash, facts.to_hash);
      assert.equal(found.stage?.counts?.fitted, index === 0 ? 0 : 2);
      assert.deepEqual(found.measures, [
        { rule: 'given', account_count: 2, left_out: 0, ...source },
        { rule: 'sent', account_count: 1, left_out: 1, location: '', sha256: '', bytes: 0, etag: '' },
      ]);
    }
  });

  it('explains a score that all others are fitted with, and reads them a part at a time', async () => {
    const stage = 30n;
    const text = 'version: 1\nname: wide\nfit_total: 5000\nrules: [{ kind: transactions, name: sent }]\n';
    const policy = parsePolicy(text, { from: 'of the test', account_prefix: 'init' });
    const window = { ...run.window, stage };
    const accounts = Array.from({ length: 5_000 }, (_, index) =>
      createHash('sha1').update(String(index)).digest('hex'),
    );
    const values = new Map(accounts.map((account, index) => [account, BigInt(index % 90)]));
    const measure = { values, denominator: 1n, left_out: 0 };
    const facts: Facts = { window, to_hash: 'CD'.repeat(32), measures: new Map([['sent', measure]]) };
    const computation = compute(policy, facts);
    await store.savePolicy(policy.hash, text);
    await store.saveFacts(stage, computation.list.hash, facts);
    await store.saveList(stage, computation.list);
    await store.saveRun({
      ...{ ...run, stage, window, to_hash: facts.to_hash, policy_hash: policy.hash },
      list_hash: computation.list.hash,
    });
    seen.most = 0;
    for (const account of accounts.slice(40, 45)) {
      const asked = { stage: String(stage), address: `0x${account}` };
      const { reasons } = await ask(client).explainScore(asked);
      assert.deepEqual(
        reasons.map(({ text: reason }) => reason),
        explain(policy, facts, `0x${account}`, 'init').map(({ text: reason }) => reason),
      );
    }
    assert.ok(seen.most < 60, `${seen.most} rows in one answer`);
  });

  describe('of a list that came out the same twice', () => {
    const measured = (
      stage: bigint,
      rule: string,
      values: readonly (readonly [number, bigint])[],
    ): Facts => ({
      window: { ...run.window, stage },
      to_hash: 'EF'.repeat(32),
      measures: new Map([
        [
          rule,
          {
            values: new Map(values.map(([n, value]) => [address(n).slice(2), value])),
            denominator: 1n,
            left_out: 0,
          },
        ],
      ]),
    });
    const ownOf = (stage: bigint): Run => ({
      ...run,
      ...{ stage, window: { ...run.window, stage }, to_hash: 'EF'.repeat(32) },
    });
    // Of its own: nothing but facts has versions in it.
    const program = '31337/0xfac';
    let store: ScoringStore;
    before(async () => {
      store = await open(program);
    });
    const told = (stage: bigint): Promise<Facts> =>
      readFacts({ database, database_name: name, program }, ownOf(stage), '', {});
    const merge = async (): Promise<void> => {
      for (const table of ['measured', 'measures'])
        await database.command(
          `OPTIMIZE TABLE ${name}.${table} FINAL`,
          {},
          { name: 'merge', priority: 'write' },
        );
    };
    /** A store of a process that dies before it writes to a table. */
    const dyingAt = (table: string): Promise<ScoringStore> => {
      const dying: Database = {
        ...database,
        insert: (into, rows, options) =>
          into === `${name}.${table}`
            ? Promise.reject(new Error('died'))
            : database.insert(into, rows, options),
      };
      return open(program, dying);
    };

    it('tell what was measured last', async () => {
      for (const facts of [
        measured(
          40n,
          'first',
          [1, 2].map((n) => [n, BigInt(n)]),
        ),
        measured(40n, 'second', [[2, 2n]]),
        measured(40n, 'first', [[3, 3n]]),
      ]) {
        await store.saveFacts(40n, list.hash, facts);
        assert.deepEqual(await told(40n), facts);
      }
      await merge();
      assert.deepEqual(await told(40n), measured(40n, 'first', [[3, 3n]]));
    });

    it('tell what was measured before by the same rule of the same account, while the writing was cut short', async () => {
      const [before, later] = [
        measured(41n, 'sent', [[1, 10n]]),
        measured(41n, 'sent', [
          [1, 20n],
          [2, 30n],
        ]),
      ];
      await store.saveFacts(41n, list.hash, before);
      const dying = await dyingAt('measures');
      await assert.rejects(dying.saveFacts(41n, list.hash, later), /died/);
      assert.deepEqual(await told(41n), before);
      await merge();
      assert.deepEqual(await told(41n), before, 'once the parts are merged too');
      const again = await open(program);
      await again.saveFacts(41n, list.hash, later);
      assert.deepEqual(await told(41n), later);
      await merge();
      assert.deepEqual(await told(41n), later);
    });

    it('tell what was measured last when the clock went back in between', async () => {
      const { now } = Date;
      const [before, later] = [measured(42n, 'sent', [[1, 10n]]), measured(42n, 'sent', [[1, 20n]])];
      await store.saveFacts(42n, list.hash, before);
      try {
        Date.now = () => now() - 3_600_000;
        const again = await open(program);
        await again.saveFacts(42n, list.hash, later);
      } finally {
        Date.now = now;
      }
      assert.deepEqual(await told(42n), later);
    });
  });

  it('forget a stage that was believed wrongly, unless a tx was sent for it', async () => {
    const contract = `0x${'e'.repeat(40)}`;
    const own = await open(`77/${contract}`);
    const forget = (stage: string, program = programAt(contract)) =>
      forgetStage(program, stage, forgetting());
    await assert.rejects(forget('9'), /nothing was done for the contract/);
    await own.logDecision({ at: 1, kind: 'wait', reason: 'R', message: 'm', stage: 0n });
    await own.noteStage({ stage: 8n, start_time: 100, end_time: 200 });
    await own.noteStage({ stage: 9n, start_time: 200, end_time: 300 });
    await own.saveTx({ ...tx, stage: 8n, state: 'replaced' });
    await own.saveTx({ ...tx, stage: 8n, nonce: 5 });
    await assert.rejects(forget('x'), /number of a stage/);
    await assert.rejects(forget('7'), /never seen in stage 7/);
    await assert.rejects(forget('8'), /for stage 8 1 txs were sent/);
    assert.match(await forget('9'), /^forgotten: stage 9 from 1970-01-01T00:03:20Z .* of 77\//);
    const left = [{ stage: 8n, start_time: 100, end_time: 200 }];
    assert.deepEqual(await own.seenStages(), left);
    await assert.rejects(forget('9'), /never seen in stage 9/);
    await own.noteStage({ stage: 9n, start_time: 250, end_time: 300 });
    assert.equal((await own.seenStages()).length, 2, 'it may be seen again');

    const other = await open(`78/${contract}`);
    await other.logDecision({ at: 1, kind: 'wait', reason: 'R', message: 'm', stage: 0n });
    await assert.rejects(forget('9'), /say which in the program/);
    await assert.rejects(forget('9', programAt(contract, 7)), /nothing was done/);
    assert.match(await forget('9', programAt(contract, 77)), /forgotten/);
  });

  it('know what is finalized, and the highest block of a receipt, until a person forgets it', async () => {
    const contract = `0x${'d'.repeat(40)}`;
    const own = await open(`91/${contract}`);
    const program = programAt(contract);
    assert.deepEqual([await own.finalizations(), await own.leastHeight()], [[], 0]);
    await own.logDecision({ at: 1, kind: 'wait', reason: 'R', message: 'm', stage: 0n });
    await own.saveRun({ ...run, stage: 5n, is_finalized: true });
    await own.saveTx({ ...tx, stage: 6n, nonce: 8, purpose: 'update', state: 'mined', height: 90 });
    await own.saveTx({ ...tx, stage: 6n, nonce: 9, purpose: 'finalize', state: 'failed', height: 91 });
    const finalizing = { ...tx, stage: 6n, nonce: 10, tx_hash: '0xf1', purpose: 'finalize' } as const;
    await own.saveTx({ ...finalizing, state: 'mined', height: 92 });
    await own.saveTx({ ...tx, stage: 7n, nonce: 11, purpose: 'finalize', state: 'signed' });
    assert.deepEqual(await own.finalizations(), [
      { stage: 5n, tx_hash: '', height: 0 },
      { stage: 6n, tx_hash: '0xf1', height: 92 },
    ]);
    assert.equal(await own.leastHeight(), 92);
    const forget = (stage: string) => forgetFinalized(program, stage, forgetting());
    await assert.rejects(forget('7'), /do not say that stage 7 is finalized/);
    await assert.rejects(forget('5'), /stage 6 is finalized too/);
    assert.match(await forget('6'), /^forgotten: that stage 6 of 91/);
    assert.match(await forget('5'), /^forgotten: that stage 5/);
    assert.deepEqual(await own.finalizations(), []);
    assert.equal((await own.run(5n))?.is_finalized, false);
  });

  it('forget the blocks that receipts have named from one on, and not what became of the txs', async () => {
    const contract = `0x${'c'.repeat(40)}`;
    const own = await open(`92/${contract}`);
    const program = programAt(contract);
    const forget = (height: string) => forgetHeight(program, height, forgetting());
    await own.saveRun({ ...run, stage: 5n });
    await own.saveRun({ ...run, stage: 6n });
    await own.saveTx({ ...tx, stage: 5n, nonce: 7, state: 'mined', height: 90 });
    const lie = {
      ...tx,
      stage: 6n,
      nonce: 8,
      purpose: 'finalize',
      state: 'mined',
      height: 0x7f_ff_ff_ff,
    } as const;
    await own.saveTx(lie);
    await assert.rejects(forget('x'), /number of a block/);
    await assert.rejects(forget('0'), /from 1/);
    await assert.rejects(forget(String(lie.height + 1)), /or a later one; the highest is 2147483647/);
    assert.match(await forget('91'), /^forgotten: the blocks from 91 on of 1 receipts of 92/);
    assert.equal(await own.leastHeight(), 90);
    assert.deepEqual(await own.finalizations(), [{ stage: 6n, tx_hash: lie.tx_hash, height: 0 }]);
  });

  it('keep what was written last also where the clock is far ahead', async () => {
    const now = Date.now;
    const own = await open('ahead');
    Date.now = () => Date.UTC(2500, 0, 1);
    try {
      for (const error of ['first', 'second', 'third']) await own.saveRun({ ...run, error });
    } finally {
      Date.now = now;
    }
    const again = await open('ahead');
    assert.equal((await again.run(run.stage))?.error, 'third');
    await again.saveRun({ ...run, error: 'fourth' });
    assert.equal((await again.run(run.stage))?.error, 'fourth');
    const row = { program: 'ahead', stage: '1', start_time: 1, end_time: 2, version: String(2n ** 53n) };
    await database.insert(`${name}.l1_stages`, JSON.stringify(row), { name: 'test' });
    await assert.rejects(open('ahead'), /version 9007199254740992/);
  });

  it('refuse what cannot be', async () => {
    const pagination = { key: '', offset: 0, limit: 10, count_total: true, reverse: true };
    await assert.rejects(ask(client).getStage({ stage: '99' }), /never scored/);
    await assert.rejects(ask(client).getStage({ stage: '6; DROP' }), /whole number/);
    await assert.rejects(ask(client).getStage({ stage: String(2n ** 64n) }), /whole number/);
    await assert.rejects(
      ask(client).listScores({ stage: '6', pagination: { ...pagination, key: 'x' } }),
      /not a key/,
    );
    await assert.rejects(ask(client).listScoresByAddress({ address: 'nobody' }), /neither/);
    await assert.rejects(ask(client).listDecisions({ limit: 0 }), /limit/);
  });
});
