import assert from 'node:assert/strict';
import type { TxActivity } from '../../services/common/gen/indexer/tx/v1/activity.js';
import {
  type AccountChange,
  joinHistories,
  type OpeningBalance,
} from '../../services/scoring-operator/policy/gather/balances.js';
import {
  type ActivityRule,
  activityTally,
  createClock,
  holdingOf,
  ownerTally,
  volumeOf,
} from '../../services/scoring-operator/policy/measure.js';
import type { HoldingsRule, Rule, VolumeRule } from '../../services/scoring-operator/policy/policy.js';
import { randomFrom } from '../support/random.js';
import { policyWith } from '../support/scoring-model.js';

const [alice, bob, long] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(64)];

const ruleOf = <T extends Rule>(fields: object): T => policyWith([{ name: 'r', ...fields }]).rules[0] as T;

const tx = (more: Partial<TxActivity>): TxActivity => ({
  height: 1,
  position: 0,
  signers: [`0x${alice}`],
  code: 0,
  gas_used: '10',
  msgs: ['a.Msg'],
  calls: [],
  ...more,
});

describe('transactions', () => {
  const txs = [
    tx({}),
    tx({ code: 5, gas_used: '7' }),
    tx({ msgs: ['b.Msg', 'a.Msg'], gas_used: '100' }),
    tx({ signers: [`0x${bob}`, `0x${alice}`], msgs: ['b.Msg'], gas_used: '1000' }),
    tx({ signers: [`0x${long}`] }),
    tx({ signers: [] }),
  ];
  const measured = (fields: object) => {
    const tally = activityTally(ruleOf<ActivityRule>(fields));
    for (const each of txs) tally.add(each);
    return tally.measure();
  };
  const values = (fields: object) => Object.fromEntries(measured(fields).values);

  for (const [what, fields, expected] of [
    ['count for the first signer when they succeed', { kind: 'transactions' }, { [alice]: 2n, [bob]: 1n }],
    [
      'count when they fail too, if the policy says so',
      { kind: 'transactions', only_successful: false },
      { [alice]: 3n, [bob]: 1n },
    ],
    [
      'count for every signer, if the policy says so',
      { kind: 'transactions', signers: 'all' },
      { [alice]: 3n, [bob]: 1n },
    ],
    [
      'count by message type, with and without a slash',
      { kind: 'transactions', msg_types: ['/b.Msg', 'c.Msg'] },
      { [alice]: 1n, [bob]: 1n },
    ],
    ['add up their gas', { kind: 'gas_used' }, { [alice]: 110n, [bob]: 1000n }],
    [
      'add up the gas of failed ones too, if the policy says so',
      { kind: 'gas_used', only_successful: false, msg_types: ['a.Msg'] },
      { [alice]: 117n },
    ],
  ] as const) {
    it(what, () => assert.deepEqual(values(fields), expected));
  }

  it('of accounts of 32 bytes count for nobody, and those accounts are counted', () => {
    assert.equal(measured({ kind: 'transactions' }).left_out, 1);
  });
});

describe('calls', () => {
  const call = (from: string, to: string, selector: string) => ({
    from: `0x${from}`,
    to: `0x${to}`,
    selector,
  });
  const pool = '1'.repeat(40);
  const txs = [
    tx({ calls: [call(alice, pool, '0xa9059cbb'), call(alice, pool, '0xa9059cbb'), call(bob, pool, '')] }),
    tx({ calls: [call(bob, '2'.repeat(40), '0xa9059cbb')] }),
    tx({ code: 1, calls: [call(bob, pool, '0xa9059cbb')] }),
  ];
  for (const [what, fields, expected] of [
    ['of a contract count for who calls, each', { contracts: [`0x${pool}`] }, { [alice]: 2n, [bob]: 1n }],
    ['of a function', { selectors: ['transfer(address,uint256)'] }, { [alice]: 2n, [bob]: 1n }],
    ['of a function in hex', { selectors: ['0xA9059CBB'] }, { [alice]: 2n, [bob]: 1n }],
    ['of both', { selectors: ['0xa9059cbb'], contracts: [`0x${pool}`] }, { [alice]: 2n }],
    [
      'that failed, if the policy says so',
      { only_successful: false, selectors: ['0xa9059cbb'], contracts: [`0x${pool}`] },
      { [alice]: 2n, [bob]: 1n },
    ],
  ] as const) {
    it(what, () => {
      const tally = activityTally(ruleOf<ActivityRule>({ kind: 'calls', ...fields }));
      for (const each of txs) tally.add(each);
      assert.deepEqual(Object.fromEntries(tally.measure().values), expected);
    });
  }
});

describe('balances', () => {
  const change = (height: number, amount: bigint, is_heal = false) => ({ height, amount, is_heal });
  const volume = (direction: string) => ruleOf<VolumeRule>({ kind: 'volume', denom: 'x', direction });
  const holdings = (at: string) => ruleOf<HoldingsRule>({ kind: 'holdings', denom: 'x', at });
  const history = {
    opening: 5n,
    changes: [change(10, 12n), change(11, 9n, true), change(12, 2n), change(13, 2n)],
  };

  it('move by what they change by from block to block, corrections apart', () => {
    assert.equal(volumeOf(volume('received'), history), 7n);
    assert.equal(volumeOf(volume('sent'), history), 7n);
    assert.equal(volumeOf(volume('both'), history), 14n);
  });

  it('at the end are the last ones', () => {
    const clock = createClock(0n, 10n, 10, BigInt64Array.from([1n]));
    assert.equal(holdingOf(holdings('end'), history, 0n, clock), 2n);
    assert.equal(holdingOf(holdings('end'), { opening: 5n, changes: [] }, 0n, clock), 5n);
  });

  it('on average are what adding them up instant by instant gives', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed);
      const [start, end] = [100, 100 + 1 + random.integer(60)];
      // Blocks of the window: times never go back, and may stand still.
      const times: number[] = [];
      for (let time = start + random.integer(10); time < end; time += random.integer(9)) times.push(time);
      const clock = createClock(BigInt(start), BigInt(end), 7, BigInt64Array.from(times.map(BigInt)));
      const changes = times
        .map((_, index) => change(7 + index, BigInt(random.integer(50))))
        .filter(() => random.oneIn(2));
      const opening = BigInt(random.integer(50));
      let expected = 0n;
      for (let instant = start; instant < end; instant++) {
        const last = changes.findLast(({ height }) => (times[height - 7] as number) <= instant);
        expected += last?.amount ?? opening;
      }
      assert.equal(
        holdingOf(holdings('average'), { opening, changes }, BigInt(start), clock),
        expected,
        `${seed}`,
      );
    }
  });

  it('weigh nothing for times outside the stage', () => {
    const clock = createClock(10n, 20n, 1, BigInt64Array.from([5n, 25n, 30n]));
    const changes = [change(1, 2n), change(2, 100n), change(3, 7n)];
    assert.equal(holdingOf(holdings('average'), { opening: 50n, changes }, 10n, clock), 20n);
  });

  it('of a rollup that begins within the stage count from its first block', () => {
    const clock = createClock(0n, 100n, 1, BigInt64Array.from([40n, 60n]));
    assert.equal(holdingOf(holdings('average'), { opening: 3n, changes: [change(2, 1n)] }, 40n, clock), 100n);
  });
});

describe('owners of NFTs', () => {
  it('on average are what counting them instant by instant gives', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed);
      const [start, end] = [10, 60];
      const times: number[] = [];
      for (let time = start + random.integer(4); time < end; time += random.integer(6)) times.push(time);
      const people = [undefined, alice, bob, long] as const;
      const tokens = Array.from({ length: 5 }, () => random.pick(people));
      const clock = createClock(BigInt(start), BigInt(end), 1, BigInt64Array.from(times.map(BigInt)));
      const tally = ownerTally(clock);
      const owners = [...tokens];
      for (const owner of owners) if (owner !== undefined) tally.open(owner);
      const snapshots = times.map((time, index) => {
        for (let n = random.integer(3); n > 0; n--) {
          const token = random.integer(owners.length);
          const [previous_owner, owner] = [owners[token], random.pick(people)];
          tally.change({ height: index + 1, previous_owner, owner });
          owners[token] = owner;
        }
        return { time, owners: [...owners] };
      });
      const measure = tally.measure();
      for (const person of [alice, bob]) {
        let expected = 0n;
        for (let instant = start; instant < end; instant++) {
          const state = snapshots.findLast(({ time }) => time <= instant)?.owners ?? tokens;
          expected += BigInt(state.filter((owner) => owner === person).length);
        }
        assert.equal(measure.values.get(person) ?? 0n, expected, `seed ${seed}`);
      }
      assert.equal(measure.denominator, 50n);
      assert.equal(measure.values.has(long), false);
    }
  });
});

describe('histories of accounts', () => {
  const given = async function* <T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
    yield* items;
  };
  const collect = async (openings: OpeningBalance[], changes: AccountChange[]) => {
    const found = [];
    for await (const { account, opening, changes: own } of joinHistories(given(openings), given(changes)))
      found.push([account, opening, own.map(({ amount }) => amount)]);
    return found;
  };
  const held = (account: string, amount: bigint) => ({ account, amount });
  const changed = (account: string, amount: bigint) => ({ account, amount, height: 1, is_heal: false });

  it('are joined account by account', async () => {
    assert.deepEqual(
      await collect(
        [held('b', 1n), held('c', 2n), held('e', 3n)],
        [changed('a', 10n), changed('a', 11n), changed('c', 12n), changed('f', 13n)],
      ),
      [
        ['a', 0n, [10n, 11n]],
        ['b', 1n, []],
        ['c', 2n, [12n]],
        ['e', 3n, []],
        ['f', 0n, [13n]],
      ],
    );
    assert.deepEqual(await collect([], []), []);
  });

  it('that come in another order are refused', async () => {
    await assert.rejects(collect([held('b', 1n), held('a', 1n)], []), /no order/);
    await assert.rejects(collect([], [changed('a', 1n), changed('b', 1n), changed('a', 1n)]), /no order/);
  });
});
