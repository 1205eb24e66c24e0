import assert from 'node:assert/strict';
import { derivedChainId } from '../../services/scoring-operator/contract/rpc.js';
import type { ChainFacts, WantedChain } from '../../services/scoring-operator/machine/chain.js';
import { decide, isClosable } from '../../services/scoring-operator/machine/decide.js';
import { contradictionOf } from '../../services/scoring-operator/machine/l1-belief.js';
import { exitCodeOf, pause } from '../../services/scoring-operator/machine/run.js';
import { timesOf } from '../../services/scoring-operator/machine/times.js';
import type { Decision, L1Stage, Observation, Rules } from '../../services/scoring-operator/machine/types.js';
import { compare, differences } from '../../services/scoring-operator/machine/verify.js';
import { hashOfScores, ranked } from '../../services/scoring-operator/policy/result.js';

const l1: L1Stage = {
  stage: 7n,
  stage_start_time: 1_000,
  stage_end_time: 2_000,
  stage_interval: 1_000,
  challenge_period: 100,
  l1_time: 1_500,
  is_moving: true,
};
const window = { stage: 6n, start_time: 0, end_time: 1_000, from_height: 1, to_height: 99 };
const rules: Rules = {
  margin_s: 60,
  approval: 'Automatic',
  approved_stage: undefined,
  allow_empty: [],
  stop_at_stage: undefined,
};
const open = (stage: bigint) => ({ stage, total_score: 0n, is_finalized: false });
const done = (stage: bigint) => ({ stage, total_score: 9n, is_finalized: true });
const verified = {
  stage: 6n,
  window,
  to_hash: 'AA',
  list_hash: 'h',
  is_verified: true,
  is_finalized: false,
  score_count: 2,
};

const observation: Observation = {
  now: 0,
  l1,
  contract: { init_stage: 5n, stages: [done(5n), open(6n)], is_allowed: true },
  indexer: { height: 120, time: 1_400 },
  runs: [],
  registration: { kind: 'unchecked' },
  window: { kind: 'known', window, to_hash: 'AA' },
};

const reasonOf = (decision: Decision): string =>
  'reason' in decision ? `${decision.kind} ${decision.reason}` : `${decision.kind} ${decision.stage}`;
const decided = (change: Partial<Observation>, more: Partial<Rules> = {}): string =>
  reasonOf(decide({ ...observation, ...change }, { ...rules, ...more }));
const contractOf = (stages: readonly ReturnType<typeof open>[], is_allowed = true, init_stage = 5n) => ({
  contract: { init_stage, stages, is_allowed },
});

/** Stage 6 was scored and read back, with what a case has otherwise. */
const ran = (change: Partial<typeof verified> = {}) => ({ runs: [{ ...verified, ...change }] });
const at = (l1_time: number) => ({ l1: { ...l1, l1_time } });
/** The tables say that a stage is finalized. */
const written = (stage: bigint) => ({ finalized: [{ stage, tx_hash: '0x1', height: 9 }] });
const approved: Partial<Rules> = { approval: 'Manual', approved_stage: 6n, approved_list: 'h' };
const registered = (change: { version?: bigint; init_stage?: bigint; is_ours?: boolean }) => ({
  registration: {
    ...{ kind: 'registered' as const, version: 1n, init_stage: 5n, is_ours: true, contract: '0x1' },
    ...change,
  },
});

/** Nodes that say these EVM chain ids, each of a host of its own. */
const chainOf = (
  ids: readonly bigint[],
  wanted: Partial<WantedChain> = {},
  indexed: ChainFacts['indexed'] = 'r-1',
  hosts = ['a', 'b'],
): Partial<Observation> => ({
  chain: {
    facts: { evm: ids.map((id, index) => ({ from: hosts[index] as string, id })), indexed },
    wanted: { chain_id: '', evm_chain_id: undefined, ...wanted },
  },
});
/** The EVM chain id that follows from the chain id of the index. */
const own = derivedChainId('r-1');

describe('what the L1 says', () => {
  const seen = [{ stage: 5n, start_time: 0, end_time: 5_000 }];
  const said = (stage: bigint, start: number, end: number, told: typeof seen = []): string | undefined =>
    contradictionOf({ stage, stage_start_time: start, stage_end_time: end }, { seen, told });

  it('is believed while it fits what was seen', () => {
    assert.equal(said(5n, 0, 5_000), undefined);
    assert.equal(said(6n, 5_000, 9_000), undefined);
    assert.equal(said(8n, 9_000, 9_500), undefined, 'stages between that nobody has seen');
    const first = { stage: 2n, stage_start_time: 1, stage_end_time: 2 };
    assert.equal(contradictionOf(first, { seen: [], told: [] }), undefined);
  });
  it('is not believed when the next stage does not begin where the one that was seen ends', () => {
    assert.match(said(6n, 1_000, 9_000) ?? '', /stage 6 begins at 1000, and stage 5 .* end at 5000/);
    assert.match(said(6n, 5_001, 9_000) ?? '', /begins at 5001/);
    assert.match(said(8n, 4_000, 9_000) ?? '', /stage 8 begins at 4000, and stage 5 was seen or told to end/);
  });
  it('is not believed when the times of a running stage change, or stages go back', () => {
    assert.match(said(5n, 0, 1_000) ?? '', /from 0 to 1000, and it was seen from 0 to 5000/);
    assert.match(said(5n, 0, 6_000) ?? '', /from 0 to 6000/);
    assert.match(said(4n, 0, 5_000) ?? '', /stage 4 after it had said stage 5/);
  });
  it('is believed when a person has told the same', () => {
    const told = (end_time: number) => [{ stage: 5n, start_time: 0, end_time }];
    assert.equal(said(5n, 0, 1_000, told(1_000)), undefined);
    for (const end of [4_000, 6_000]) assert.equal(said(6n, end, 9_000, told(end)), undefined);
    assert.match(said(6n, 5_000, 9_000, told(4_000)) ?? '', /end at 4000/);
  });
});

describe('what is decided', () => {
  const cases: readonly [string, string, Partial<Observation>, Partial<Rules>?][] = [
    ['a stage that is over is scored', 'score 6', {}],
    ['the L1 cannot be read', 'wait L1Unreadable', { l1: { error: 'down' } }],
    ['the time of the L1 stands still', 'wait L1StandsStill', { l1: { ...l1, is_moving: false } }],
    [
      'the L1 names a stage that has not begun by its own time',
      'wait L1Unreadable',
      { ...ran(), ...at(999) },
    ],
    [
      'the nodes are of different chains',
      'alarm OtherChain',
      { contract: { error: 'no contract' }, ...chainOf([own, 5n]) },
    ],
    [
      'two URLs of one host are of different chains',
      'alarm OtherChain',
      chainOf([6n, 5n], {}, 'r-1', ['a', 'a']),
    ],
    [
      'a node is of another chain than a person has said',
      'alarm OtherChain',
      chainOf([5n, 6n], { evm_chain_id: 5n }),
    ],
    ['the nodes are of a chain id that does not follow from that of the index', 'score 6', chainOf([5n, 5n])],
    [
      'the same, and the program is for the chain of the index',
      'score 6',
      chainOf([5n], { chain_id: 'r-1' }),
    ],
    ['every node is of the chain of the index', 'score 6', chainOf([own])],
    ['the nodes are of the chain that a person has said', 'score 6', chainOf([5n], { evm_chain_id: 5n })],
    [
      'the nodes are of the chain of the index, and a person has said another',
      'alarm OtherChain',
      chainOf([own], { evm_chain_id: 5n }),
    ],
    [
      'the index is of another chain than the program',
      'alarm OtherChain',
      chainOf([own], { chain_id: 'r-2' }),
    ],
    ['the index has no chain yet', 'wait ChainUnknown', chainOf([5n], {}, '')],
    ['the index does not say its chain', 'wait ChainUnknown', chainOf([5n], {}, { error: 'down' })],
    ['no node says its chain', 'wait ChainUnknown', { ...ran(), ...chainOf([]) }],
    [
      'the index is silent, and the program says which chain it is for',
      'wait ChainUnknown',
      chainOf([5n], { chain_id: 'r-1' }, { error: 'down' }),
    ],
    ['the contract cannot be read', 'wait ContractUnreadable', { contract: { error: 'down' } }],
    ['the index cannot be read', 'wait IndexerUnreadable', { indexer: { error: 'down' } }],
    ['the index is not past the stage', 'wait IndexerBehind', { indexer: { height: 120, time: 999 } }],
    ['the index has just its last block', 'wait IndexerBehind', { indexer: { height: 99, time: 1_400 } }],
    ['the index begins within it', 'wait IndexIncomplete', { window: { kind: 'missing', message: '' } }],
    ['nobody knows when the stage was', 'wait WindowUnknown', { window: { kind: 'unknown', message: '' } }],
    ['the open stage runs', 'nothing StageRunning', contractOf([done(6n), open(7n)])],
    [
      'the open stage has not begun',
      'nothing StageNotBegun',
      { ...contractOf([done(7n), open(8n)]), ...at(2_100) },
    ],
    ['the running stage is finalized', 'alarm FinalizedTooEarly', contractOf([done(7n), open(8n)])],
    ['a read-back stage is finalized', 'finalize 6', ran()],
    ['a stage that was not read back is not', 'score 6', ran({ is_verified: false })],
    ['its last block is another one by now', 'score 6', ran({ to_hash: 'BB' })],
    ['its blocks are other ones by now', 'score 6', ran({ window: { ...window, to_height: 98 } })],
    ['its times are other ones by now', 'score 6', ran({ window: { ...window, end_time: 999 } })],
    [
      'whether its blocks are still the same cannot be looked up',
      'wait IndexerUnreadable',
      { ...ran(), window: { kind: 'error', error: 'down' } },
    ],
    [
      'the chain was rolled back into it',
      'wait IndexerBehind',
      { ...ran(), window: { kind: 'behind', message: '' } },
    ],
    ['nobody has a score', 'wait EmptyStage', ran({ score_count: 0 })],
    [
      'nobody has a score, and a person has said so',
      'finalize 6',
      ran({ score_count: 0 }),
      { allow_empty: [6n] },
    ],
    [
      'a person has said so of another stage',
      'wait EmptyStage',
      ran({ score_count: 0 }),
      { allow_empty: [5n, 7n] },
    ],
    ['approval is wanted', 'wait ApprovalNeeded', ran(), { approval: 'Manual' }],
    ['approval is there', 'finalize 6', ran(), approved],
    [
      'approval names a stage and no list',
      'wait ApprovalNeeded',
      ran(),
      { approval: 'Manual', approved_stage: 6n },
    ],
    [
      'the list was computed anew after the approval',
      'wait ApprovalNeeded',
      ran({ list_hash: 'another' }),
      approved,
    ],
    [
      'a list of an earlier stage that is the same was approved',
      'wait ApprovalNeeded',
      ran(),
      { ...approved, approved_stage: 5n },
    ],
    [
      'the tables say that the stage is finalized, and the contract that it is open',
      'alarm FinalizedBefore',
      { ...ran(), ...written(6n) },
    ],
    [
      'the tables say that a later stage is finalized than the one that the contract shows as open',
      'alarm FinalizedBefore',
      written(7n),
    ],
    ['the tables say that an earlier stage is finalized', 'score 6', written(5n)],
    [
      'the node is behind the receipts or the index',
      'wait NodeBehind',
      { contract: { error: 'the node is at block 5, and block 9 is known', reason: 'NodeBehind' } },
    ],
    [
      'the L1 contradicts itself',
      'wait L1Contradicts',
      { ...ran(), l1: { error: 'two URLs differ', reason: 'L1Contradicts' } },
    ],
    ['it is beyond the last stage wanted', 'nothing Stopped', {}, { stop_at_stage: 5n }],
    ['the signer may not write', 'alarm NotAllowed', contractOf([open(6n)], false)],
    ['there is no open stage', 'alarm StageMissing', contractOf([done(5n)])],
    ['the contract has no stage', 'alarm StageMissing', contractOf([])],
    ['another contract is registered', 'alarm OtherContractRegistered', registered({ is_ours: false })],
    ['the contract begins too late', 'alarm InitStageTooLate', registered({ init_stage: 4n })],
    [
      'the registration cannot be read',
      'wait L1Unreadable',
      { registration: { kind: 'error', error: 'down' } },
    ],
    [
      'another version of the registration is in force',
      'alarm OtherVersion',
      registered({ version: 2n }),
      { vip_version: 1n },
    ],
    ['any version of the registration is good', 'score 6', registered({ version: 2n })],
    ['the rollup is not registered yet', 'score 6', { registration: { kind: 'unregistered' } }],
  ];
  for (const [name, expected, change, more] of cases) {
    it(`${name}: ${expected}`, () => assert.equal(decided(change, more), expected));
  }

  it('closes no stage while the L1 names one that has not begun by its own time', () => {
    assert.deepEqual([isClosable(at(999).l1, 6n, 0), isClosable(at(1_000).l1, 6n, 0)], [false, true]);
  });

  it('finalizes the stage that the L1 still names only when its time is a margin past the end', () => {
    for (const [time, expected] of [
      [1_999, 'nothing StageRunning'],
      [2_000, 'wait MarginNotOver'],
      [2_059, 'wait MarginNotOver'],
      [2_060, 'finalize 7'],
    ] as const)
      assert.equal(decided({ ...contractOf([open(7n)]), ...ran({ stage: 7n }), ...at(time) }), expected);
  });
});

describe('when a stage was', () => {
  const current = { stage: 7n, stage_start_time: 1_000, stage_end_time: 1_100, stage_interval: 100 };
  const seen = (stage: bigint, start_time: number, end_time: number) => ({ stage, start_time, end_time });
  const known = { current, seen: [], told: [], may_count: false };
  /** Why it is not known when a stage was. */
  const whyNot = (stage: bigint, change: object = {}) => String(timesOf(stage, { ...known, ...change }));

  it('is what was seen, whatever the interval is by now', () => {
    const two = { ...known, current: { ...current, stage_interval: 55 }, seen: [seen(5n, 700, 850)] };
    assert.deepEqual(timesOf(5n, two), { start_time: 700, end_time: 850 });
    assert.deepEqual(timesOf(6n, two), { start_time: 850, end_time: 1_000 }, 'between two that are known');
  });
  it('is what the L1 still says of it, where nobody was looking', () => {
    const said = { start_time: 710, end_time: 800 };
    assert.deepEqual(timesOf(4n, { ...known, said }), said);
    assert.deepEqual(timesOf(4n, { ...known, said, may_count: true }), said, 'rather than counted');
  });
  it('is not believed of the L1 where that contradicts what was seen, or itself', () => {
    const beside = { seen: [seen(5n, 801, 900)] };
    assert.match(whyNot(4n, { ...beside, said: { start_time: 700, end_time: 800 } }), /does not fit/);
    const said = { start_time: 700, end_time: 801 };
    assert.deepEqual(timesOf(4n, { ...known, ...beside, said }), said);
    assert.match(whyNot(4n, { said: { start_time: 800, end_time: 800 } }), /does not fit/);
  });
  it('is asked of a person rather than counted', () => {
    for (const stage of [4n, 6n])
      assert.match(whyNot(stage), /nobody was looking then.*windows: stage \d.*count_intervals/);
  });
  it('is counted in intervals where nothing was seen and that is allowed', () => {
    const counting = { ...known, may_count: true };
    assert.deepEqual(timesOf(4n, counting), { start_time: 700, end_time: 800 });
    assert.deepEqual(timesOf(6n, counting), { start_time: 900, end_time: 1_000 });
  });
  it('is not counted where that does not fit what was seen, or stages have not always been as long', () => {
    assert.match(whyNot(5n, { seen: [seen(3n, 600, 750)], may_count: true }), /cannot be counted/);
    const changed = { ...current, stage_interval: 90 };
    assert.match(whyNot(5n, { current: changed, may_count: true }), /not always been/);
  });
  it('is what a person tells', () => {
    const both = { ...known, seen: [seen(5n, 700, 850)], told: [seen(5n, 1, 2)] };
    assert.deepEqual(timesOf(5n, both), { start_time: 1, end_time: 2 });
  });
  it('is not known of a stage to come', () => {
    assert.match(whyNot(8n), /not begun/);
  });
});

describe('what is compared and sent', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => `0x${letter.repeat(40)}`) as [string, string, string];
  const scores = [
    { address: a, amount: 5n },
    { address: b, amount: 2n ** 63n },
  ];
  const list = { scores, total: 5n + 2n ** 63n, hash: hashOfScores(scores) };

  it('is what differs, and a zero for every stray, before anything that adds', () => {
    const found = [
      { address: c, amount: 3n },
      { address: a, amount: 4n },
      { address: `0x${'D'.repeat(40)}`, amount: 0n },
    ];
    assert.deepEqual(differences(scores, found), [{ address: c, amount: 0n }, ...scores]);
    assert.deepEqual(differences(scores, [...scores].reverse()), []);
  });
  it('lowers before it raises, so that no sum on the way is larger than both ends', () => {
    const most = 2n ** 64n - 1n;
    const found = [
      { address: a, amount: 1n },
      { address: b, amount: most - 1n },
    ];
    const wanted = [
      { address: a, amount: most - 1n },
      { address: b, amount: 1n },
    ];
    const has = new Map(found.map(({ address, amount }) => [address, amount]));
    for (const { address, amount } of differences(wanted, found)) {
      has.set(address, amount);
      assert.ok([...has.values()].reduce((sum, one) => sum + one) <= most);
    }
    assert.deepEqual([...has], [...wanted.map(({ address, amount }) => [address, amount])]);
  });
  it('is every score, how many, the sum and the strays', () => {
    const stage = { stage: 6n, total_score: list.total, is_finalized: false };
    const wrong = (found: typeof scores, total = list.total) =>
      compare(list, found, { ...stage, total_score: total })
        .filter((check) => !check.is_ok)
        .map((check) => check.name);
    assert.deepEqual(wrong(scores), []);
    assert.deepEqual(wrong([...scores, { address: c, amount: 0n }]), []);
    assert.deepEqual(wrong([...scores, { address: c, amount: 1n }]), ['strays', 'count', 'scores']);
    assert.deepEqual(wrong([scores[0]!]), ['count', 'scores']);
    assert.deepEqual(wrong(scores, 5n), ['total']);
  });
  it('ranks the largest first, and equal ones by address', () => {
    const equal = [...scores, { address: c, amount: 5n }];
    assert.deepEqual(
      ranked(equal).map(({ address }) => address),
      [b, a, c],
    );
  });
});

describe('the loop', () => {
  it('waits longer after every failure in a row, to a bound', () => {
    const options = { poll_ms: 1_000, longest_ms: 60_000 };
    assert.deepEqual(
      [0, 1, 2, 3, 9, 99].map((n) => pause(n, options)),
      [1_000, 2_000, 4_000, 8_000, 60_000, 60_000],
    );
  });
  it('ends with 0 when all is well, 1 when a person is needed, 75 when it may work later', () => {
    const code = (decision: Decision, error?: string) => exitCodeOf({ decision, error });
    assert.equal(code({ kind: 'nothing', reason: 'StageRunning' }), 0);
    assert.equal(code({ kind: 'wait', reason: 'ApprovalNeeded', message: '' }), 0);
    assert.equal(code({ kind: 'wait', reason: 'L1Unreadable', message: '' }), 75);
    assert.equal(code({ kind: 'wait', reason: 'IndexIncomplete', message: '' }), 1);
    assert.equal(code({ kind: 'wait', reason: 'WindowUnknown', message: '' }), 1);
    assert.equal(code({ kind: 'alarm', reason: 'NotAllowed', message: '' }), 1);
    assert.equal(code({ kind: 'finalize', stage: 1n, list_hash: '' }, 'out of gas'), 75);
  });
});
