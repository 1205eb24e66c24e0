import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { Decision } from '../../services/scoring-operator/machine/types.js';
import { findings, toConditions } from '../../services/scoring-operator/operator/conditions.js';
import { notices } from '../../services/scoring-operator/operator/events.js';
import { type GateInput, gates } from '../../services/scoring-operator/operator/gates.js';
import { outcome, summarise } from '../../services/scoring-operator/operator/jobs.js';
import type { Look } from '../../services/scoring-operator/operator/look.js';
import { reasons } from '../../services/scoring-operator/operator/reasons.js';
import type { Job, Spec, Status } from '../../services/scoring-operator/operator/resource.js';
import { desiredStatus, differs } from '../../services/scoring-operator/operator/status.js';
import type { Run, StageTx } from '../../services/scoring-operator/store/rows.js';
import { sampleSpec } from '../support/kubernetes/programs.js';

const run = {
  timeZone: 'Etc/UTC',
  startingDeadlineSeconds: 600,
  activeDeadlineSeconds: 60,
  backoffLimit: 2,
  successfulJobsHistoryLimit: 3,
  failedJobsHistoryLimit: 5,
};
const spec = {
  ...sampleSpec,
  suspend: false,
  vipVersion: 1,
  startStage: 1,
  pollSeconds: 30,
  score: { ...sampleSpec.score, ...run },
  finalize: {
    ...sampleSpec.finalize,
    ...run,
    approval: 'Automatic',
    delayAfterStageEnd: '10m',
    confirmations: 0,
  },
} as unknown as Spec;

const window = { stage: 6n, start_time: 0, end_time: 1_000, from_height: 1, to_height: 99 };
const known: Run = {
  stage: 6n,
  window,
  policy_hash: 'p',
  list_hash: 'h',
  score_count: 2,
  total: 9n,
  is_verified: true,
  is_finalized: false,
  error: '',
  attempts: 1,
  created_at: 1_000,
  updated_at: 2_000,
  to_hash: '',
  counts: { without: { excluded: 0, zero_address: 0, below_one: 0, below_minimum: 0 }, capped: 0, fitted: 0 },
};
const tx: StageTx = {
  stage: 6n,
  tx_hash: '0xaa',
  purpose: 'update',
  account: '0x1',
  nonce: 0,
  score_count: 2,
  list_hash: 'h',
  state: 'mined',
  height: 500,
  gas_used: 1n,
  error: '',
  created_at: 1,
  updated_at: 1,
};
const finalize: Decision = { kind: 'finalize', stage: 6n, list_hash: 'h' };
const look: Look = {
  at: 1_000_000,
  observation: {
    now: 1_000,
    l1: {
      stage: 7n,
      stage_start_time: 1_000,
      stage_end_time: 100_000,
      stage_interval: 99_000,
      challenge_period: 1,
      l1_time: 1_500,
      is_moving: true,
    },
    contract: {
      init_stage: 5n,
      stages: [
        { stage: 5n, total_score: 1n, is_finalized: true },
        { stage: 6n, total_score: 9n, is_finalized: false },
      ],
      is_allowed: true,
    },
    indexer: { height: 600, time: 1_400 },
    runs: [known],
    window: { kind: 'known', window, to_hash: known.to_hash },
  },
  decision: finalize,
  runs: [known],
  txs: new Map([[6n, [tx]]]),
  signer: { balance: 5n, gas_price: 1n },
  rollup_height: 510,
};
const input: GateInput = {
  spec,
  isDeleted: false,
  look,
  problem: undefined,
  active: { score: 0, finalize: 0 },
  now: 1_000_000,
};
const withLook = (change: Partial<Look>): Partial<GateInput> => ({ look: { ...look, ...change } });
const withSpec = (change: object): Partial<GateInput> => ({ spec: { ...spec, ...change } as Spec });
const deciding = (decision: Decision): Partial<GateInput> => withLook({ decision });
const wait = (reason: string) => deciding({ kind: 'wait', reason, message: 'why' });
const alarm = (reason: string) => deciding({ kind: 'alarm', reason, message: 'why' });
const nothing = (reason: string) => deciding({ kind: 'nothing', reason });
const toScore = deciding({ kind: 'score', stage: 6n, window, to_hash: 'BB' });
const signer = (balance: bigint, gas_price: bigint, max_gas_price?: bigint) =>
  withLook({ signer: { balance, gas_price, ...(max_gas_price === undefined ? {} : { max_gas_price }) } });
const confirming = (confirmations: number) => withSpec({ finalize: { ...spec.finalize, confirmations } });

describe('the gates of CronJobs', () => {
  const wrong = { reason: 'InvalidPolicy' as const, message: '', isLasting: true };
  const cases: readonly [string, string, Partial<GateInput>][] = [
    ['a stage that may be finalized opens it', 'open ReadyToFinalize', {}],
    ['nothing was looked at', 'NotObserved', { look: undefined }],
    ['the look is older than the spec', 'NotObserved', { isOutdated: true }],
    ['the look is too old', 'Stale', { now: 1_000_000 + 151_000 }],
    ['a look that is a little old still counts', 'open ReadyToFinalize', { now: 1_000_000 + 149_000 }],
    ['the program is deleted', 'Draining', { isDeleted: true }],
    ['it is suspended', 'Suspended', withSpec({ suspend: true })],
    ['the policy is wrong', 'InvalidPolicy', { problem: wrong }],
    ['another registration is in force', 'OtherVersion', alarm('OtherVersion')],
    ['gas costs more than may be paid', 'GasPriceTooHigh', signer(5n, 11n, 10n)],
    ['gas costs what may be paid', 'open ReadyToFinalize', signer(5n, 10n, 10n)],
    ['a score Job runs', 'ScoreJobActive', { active: { score: 1, finalize: 0 } }],
    ['approval is missing', 'ApprovalNeeded', wait('ApprovalNeeded')],
    ['the margin is not over', 'MarginNotOver', wait('MarginNotOver')],
    ['a stage is to be scored first', 'ScorePending', toScore],
    ['the stage runs', 'StageRunning', nothing('StageRunning')],
    ['there is an alarm', 'OtherContractRegistered', alarm('OtherContractRegistered')],
    ['a reason that nobody knows', 'Other', wait('Moonshine')],
    ['confirmations are missing', 'ConfirmationsNeeded', confirming(11)],
    ['confirmations are there', 'open ReadyToFinalize', confirming(10)],
    [
      'the rollup cannot be read for confirmations',
      'ConfirmationsNeeded',
      { ...confirming(1), ...withLook({ rollup_height: undefined }) },
    ],
  ];
  for (const [what, wanted, change] of cases)
    it(`finalizing: ${what}`, () => {
      const { finalize: gate } = gates({ ...input, ...change });
      assert.equal(`${gate.suspend ? '' : 'open '}${gate.reason}`, wanted);
    });

  it('scoring goes by its schedule, whatever is seen, until there is nothing more to score', () => {
    for (const change of [{}, { look: undefined }, wait('L1Unreadable')])
      assert.equal(gates({ ...input, ...change }).score.suspend, false);
    assert.equal(gates({ ...input, ...nothing('Stopped') }).score.reason, 'Stopped');
    assert.equal(gates({ ...input, ...withSpec({ suspend: true }) }).score.suspend, true);
  });

  it('has a word for every reason of the stage machine', () => {
    const path = join(packageRoot, 'services/scoring-operator/machine/decide.ts');
    const source = readFileSync(path, 'utf8');
    const found = [
      ...source.matchAll(/(?:wait|alarm)\(\s*'(\w+)'/g),
      ...source.matchAll(/kind: '(?:nothing|alarm)',\s*reason: '(\w+)'/g),
    ].map(([, reason]) => reason as string);
    assert.ok(found.length > 15, String(found));
    const list: readonly string[] = reasons;
    assert.deepEqual(
      found.filter((reason) => !list.includes(reason)),
      [],
    );
  });
});

const jobs = { score: summarise([]), finalize: summarise([]) };
const judged = (
  change: Partial<GateInput> & {
    readonly conflicts?: readonly string[];
    readonly refusal?: string;
    readonly jobs?: typeof jobs;
  },
) => {
  const own = { ...input, ...change };
  return findings({ generation: 3, jobs, conflicts: [], ...own, gates: gates(own) });
};
const say = (found: ReturnType<typeof judged>, type: string): string =>
  `${found[type]?.status} ${found[type]?.reason}`;

describe('conditions', () => {
  const observed = (change: Partial<Look['observation']>, more: Partial<Look> = {}) =>
    withLook({ observation: { ...look.observation, ...change }, ...more });
  const down = { error: 'down' };
  const behind = observed({ window: { kind: 'behind', message: '' } });
  const cases: readonly [string, string, string, Parameters<typeof judged>[0]][] = [
    ['all is well', 'Ready', 'True AsExpected', {}],
    ['the L1 is away', 'ChainReachable', 'False L1Unreadable', observed({ l1: down })],
    [
      'the L1 contradicts itself',
      'ChainReachable',
      'False L1Contradicts',
      observed({ l1: { error: 'two URLs differ', reason: 'L1Contradicts' } }),
    ],
    [
      'the node is behind',
      'ChainReachable',
      'False NodeBehind',
      observed({ contract: { error: 'at block 5', reason: 'NodeBehind' } }),
    ],
    ['gas costs more than may be paid', 'SignerFunded', 'False GasPriceTooHigh', signer(5n, 11n, 10n)],
    ['the same, which a person has to judge', 'Degraded', 'True GasPriceTooHigh', signer(5n, 11n, 10n)],
    ['nothing was seen', 'Ready', 'Unknown NotObserved', { look: undefined }],
    ['nothing was seen for long', 'ChainReachable', 'Unknown Stale', { now: 9_000_000 }],
    ['the index is behind', 'IndexerCaughtUp', 'False IndexerBehind', behind],
    ['an index that is behind is no reason for alarm', 'Ready', 'True AsExpected', behind],
    ['an index that is away is one', 'Ready', 'False IndexerUnreadable', observed({ indexer: down })],
    ['there is no gas money', 'SignerFunded', 'False NoBalance', signer(0n, 1n)],
    ['gas is free', 'SignerFunded', 'True GasIsFree', signer(0n, 0n)],
    ['a conflict', 'Degraded', 'True ChildConflict', { conflicts: ['a-score'] }],
    ['a refusal', 'Degraded', 'True ChildRefused', { refusal: '422 no' }],
    ['a refusal, which is no readiness', 'Ready', 'False ChildRefused', { refusal: '422 no' }],
    [
      'the deadline comes near',
      'Degraded',
      'True DeadlineAtRisk',
      observed({ l1: { ...look.observation.l1, l1_time: 99_000 } as never }),
    ],
    ['another version', 'Ready', 'False OtherVersion', alarm('OtherVersion')],
    ['it is suspended', 'Ready', 'False Suspended', withSpec({ suspend: true })],
    ['a stage may be finalized', 'FinalizationPending', 'True ReadyToFinalize', {}],
    ['a person has to approve', 'FinalizationPending', 'True ApprovalNeeded', wait('ApprovalNeeded')],
    ['scores were read back', 'ScoreUpToDate', 'True ReadBack', {}],
    ['blocks were rolled back since', 'ScoreUpToDate', 'False ScorePending', toScore],
  ];
  for (const [what, type, wanted, change] of cases)
    it(`${type}: ${what}`, () => {
      assert.equal(say(judged(change), type), wanted);
    });

  it('say that the EVM chain id does not follow from the chain id, where nothing says which it is', () => {
    const of = (evm_chain_id: bigint | undefined) => {
      const wanted = { chain_id: '', evm_chain_id };
      const chain = { wanted, facts: { evm: [{ from: 'node', id: 5n }], indexed: 'r-1' } };
      return judged(observed({ chain }));
    };
    assert.equal(say(of(undefined), 'Ready'), 'True AsExpected');
    assert.match(
      of(undefined)['ChainReachable']?.message ?? '',
      /node is of EVM chain id 5, and \d+ would follow/,
    );
    assert.equal(of(5n)['ChainReachable']?.message, 'the L1 and the contract answer');
  });

  it('NotAllowed, as soon as it is seen', () => {
    const contract = { ...look.observation.contract, is_allowed: false } as never;
    const found = judged(observed({ contract }));
    assert.equal(say(found, 'SignerAuthorized'), 'False NotAllowed');
    assert.equal(say(found, 'Ready'), 'False NotAllowed');
  });

  it('keep their time while their status stays', () => {
    const first = toConditions(judged({}), 1, [], 0);
    const second = toConditions(judged({}), 2, first, 60_000);
    assert.deepEqual(
      second.map(({ lastTransitionTime }) => lastTransitionTime),
      first.map(() => '1970-01-01T00:00:00Z'),
    );
    const third = toConditions(judged({ look: undefined }), 2, second, 60_000);
    const ready = third.find(({ type }) => type === 'Ready');
    assert.equal(ready?.lastTransitionTime, '1970-01-01T00:01:00Z');
  });
});

const job = (name: string, end: string, type?: 'Complete' | 'Failed'): Job => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion: '1', creationTimestamp: end },
  status: {
    conditions: type === undefined ? [] : [{ type, status: 'True', lastTransitionTime: end }],
  },
});

describe('Jobs', () => {
  it('are counted as failures since the last that succeeded', () => {
    const found = summarise([
      job('1', '2026-01-01T00:00:00Z', 'Failed'),
      job('2', '2026-01-02T00:00:00Z', 'Complete'),
      job('4', '2026-01-04T00:00:00Z', 'Failed'),
      job('3', '2026-01-03T00:00:00Z', 'Failed'),
      job('5', '2026-01-05T00:00:00Z'),
    ]);
    assert.equal(found.failures, 2);
    assert.deepEqual(
      found.active.map(({ metadata }) => metadata.name),
      ['5'],
    );
    assert.equal(outcome(job('6', '', 'Complete')), 'Complete');
  });

  it('that fail twice make the program degraded', () => {
    const failing = summarise([job('1', '1', 'Failed'), job('2', '2', 'Failed')]);
    const found = judged({ jobs: { ...jobs, finalize: failing } });
    assert.equal(say(found, 'Degraded'), 'True FinalizeJobFailing');
  });
});

describe('the status', () => {
  const statusOf = (change: Partial<GateInput> = {}, before: Status = {}): Status => {
    const own = { ...input, ...change };
    const shared = { generation: 3, jobs, conflicts: [], ...own, gates: gates(own) };
    return desiredStatus({ ...shared, name: 'p', cronJobs: {}, before });
  };

  it('tells stages, heights and what was done', () => {
    const status = statusOf();
    assert.deepEqual(status.stage, {
      current: 7,
      startTime: '1970-01-01T00:16:40Z',
      endTime: '1970-01-02T03:46:40Z',
      observedAt: '1970-01-01T00:16:40Z',
    });
    assert.deepEqual([status.lastScoredStage, status.lastFinalizedStage], [6, 5]);
    assert.deepEqual(status.stages, [
      { stage: 6, phase: 'Finalizing', resultHash: 'h', users: 2, totalScore: '9', txHashes: ['0xaa'] },
    ]);
  });

  it('keeps what was seen last while nothing is seen', () => {
    const before = statusOf();
    const problem = { reason: 'Unreachable' as const, message: 'x', isLasting: false };
    const after = statusOf({ look: undefined, problem }, before);
    assert.deepEqual([after.stage, after.stages], [before.stage, before.stages]);
  });

  it('does not differ by what every look changes', () => {
    const before = statusOf();
    const later = withLook({
      at: 1_030_000,
      observation: { ...look.observation, indexer: { height: 700, time: 1_450 } },
    });
    assert.equal(differs(before, statusOf({ ...later, now: 1_030_000 }, before)), false);
    assert.equal(differs(before, statusOf(withSpec({ suspend: true }), before)), true);
  });

  it('tells people once of what has changed', () => {
    const first = statusOf({ look: undefined });
    assert.deepEqual(
      notices({}, first).filter(({ type }) => type === 'Warning'),
      [],
    );
    const second = statusOf({}, first);
    const told = notices(first, second).map(({ action, reason }) => `${action} ${reason}`);
    assert.ok(told.includes('Ready AsExpected'), String(told));
    assert.deepEqual(notices(second, statusOf({}, second)), []);
    const done = { ...known, is_finalized: true };
    const third = statusOf(
      withLook({ runs: [done], decision: { kind: 'nothing', reason: 'StageRunning' } }),
      second,
    );
    assert.ok(notices(second, third).some(({ reason }) => reason === 'StageFinalized'));
    assert.equal(third.stages?.[0]?.finalizedAt, '1970-01-01T00:00:02Z');
  });
});
