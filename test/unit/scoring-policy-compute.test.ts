import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { toBech32 } from '../../services/common/chain/address.js';
import { computeScores } from '../../services/scoring-operator/policy/compute.js';
import { describeRun, explain } from '../../services/scoring-operator/policy/explain.js';
import {
  type Facts,
  type Measure,
  type Policy,
  ScoringError,
} from '../../services/scoring-operator/policy/policy.js';
import { type Random, randomFrom } from '../support/random.js';
import { modelScores, policyWith } from '../support/scoring-model.js';

const window = { stage: 5n, start_time: 1000, end_time: 2000, from_height: 10, to_height: 20 };
const account = (number: number): string => number.toString(16).padStart(40, '0');

/** A policy of rules of the kind source, whose values a test may choose. */
const policyOf = (rules: readonly object[], more: object = {}): Policy =>
  policyWith(
    rules.map((rule, index) => ({ kind: 'source', file: 'f', name: `r${index}`, ...rule })),
    more,
  );

/** Facts by rule: values by account number. */
function factsWith(
  measures: readonly Readonly<Record<number, bigint>>[],
  denominators: readonly bigint[] = [],
): Facts {
  return {
    window,
    to_hash: 'AA',
    measures: new Map(
      measures.map((values, index) => [
        `r${index}`,
        {
          values: new Map(Object.entries(values).map(([n, value]) => [account(Number(n)), value])),
          denominator: denominators[index] ?? 1n,
          left_out: 0,
        },
      ]),
    ),
  };
}

/** The scores of a policy, by address. */
const scoresOf = (policy: Policy, facts: Facts): Map<string, bigint> =>
  new Map(computeScores(policy, facts).scores.map(({ address, amount }) => [address, amount]));
/** The same by account number. */
const amounts = (policy: Policy, facts: Facts): Record<string, bigint> =>
  Object.fromEntries([...scoresOf(policy, facts)].map(([address, amount]) => [Number(address), amount]));

describe('scores', () => {
  it('add up the points of all rules exactly and round down once', () => {
    // Thirds and halves: 1/3 + 1/3 + 1/3 is 1, and 1/2 + 1/3 is none.
    const policy = policyOf([{ divisor: 3 }, { divisor: 3 }, { divisor: 3 }, { weight: '0.5' }]);
    const facts = factsWith([{ 1: 1n, 2: 1n }, { 1: 1n }, { 1: 1n }, { 2: 1n }]);
    assert.deepEqual(amounts(policy, facts), { 1: 1n });
  });

  it('are right to the last digit where floats are not', () => {
    const policy = policyOf([{ weight: '0.1' }, { weight: '0.2' }, { weight: '0.7' }]);
    const huge = 10n ** 18n + 1n;
    const facts = factsWith([{ 1: huge }, { 1: huge }, { 1: huge }]);
    assert.deepEqual(amounts(policy, facts), { 1: huge });
  });

  it('are bounded by the minimum and cap of rules, then of the policy', () => {
    const policy = policyOf([{ minimum: '1.5', cap: 10 }, {}], { minimum: 3, cap: 12 });
    const facts = factsWith([
      { 1: 1n, 2: 2n, 3: 50n, 4: 50n, 5: 2n },
      { 1: 3n, 2: 1n, 4: 5n },
    ]);
    assert.deepEqual(amounts(policy, facts), { 1: 3n, 2: 3n, 3: 10n, 4: 12n });
  });

  it('of exactly the minimum or the cap are neither dropped nor cut', () => {
    const policy = policyOf([{ weight: '0.5', minimum: '1.5', cap: '2.5' }], { minimum: 1 });
    assert.deepEqual(amounts(policy, factsWith([{ 1: 2n, 2: 3n, 3: 5n, 4: 7n }])), { 2: 1n, 3: 2n, 4: 2n });
    const whole = policyOf([{}], { minimum: 3, cap: 5 });
    assert.deepEqual(amounts(whole, factsWith([{ 1: 2n, 2: 3n, 3: 5n, 4: 6n }])), { 2: 3n, 3: 5n, 4: 5n });
  });

  it('are none for excluded accounts in any spelling, and for the zero address', () => {
    const policy = policyOf([{}], {
      exclude: [toBech32(account(2), 'init'), `0x${account(2)}`, `0x${account(4)}`],
    });
    assert.equal(policy.exclude.size, 2);
    assert.deepEqual(amounts(policy, factsWith([{ 0: 7n, 2: 7n, 3: 7n, 4: 7n }])), { 3: 7n });
  });

  it('are sorted, and their hash is that of the lines', () => {
    const list = computeScores(policyOf([{}]), factsWith([{ 200: 3n, 1: 2n, 16: 1n }]));
    const lines = [1, 16, 200].map((n, index) => `0x${account(n)},${[2, 1, 3][index]}\n`).join('');
    assert.deepEqual(
      list.scores.map(({ address }) => address),
      [1, 16, 200].map((n) => `0x${account(n)}`),
    );
    assert.equal(list.total, 6n);
    assert.equal(list.hash, createHash('sha256').update(lines).digest('hex'));
    const none = createHash('sha256').update('').digest('hex');
    assert.equal(computeScores(policyOf([{}]), factsWith([{}])).hash, none);
  });

  it('may add up to 2^64-1, and to no more', () => {
    const most = 2n ** 64n - 1n;
    const facts = (rest: bigint) => factsWith([{ 1: most - 5n, 2: rest }]);
    assert.equal(computeScores(policyOf([{}]), facts(5n)).total, most);
    assert.throws(() => computeScores(policyOf([{}]), facts(6n)), {
      name: 'ScoringError',
      message: /18,446,744,073,709,551,616.*no cap.*lower cap/,
    });
    const capped = policyOf([{}], { cap: String(most) });
    assert.throws(() => computeScores(capped, facts(6n)), /cap is 18,446,744/);
    const fitted = computeScores(policyOf([{}], { fit_total: String(most) }), facts(6n));
    assert.ok(fitted.total <= most && fitted.total > most - 2n);
  });

  it('are made smaller in proportion by fit_total, and only then', () => {
    const points = { 1: 600n, 2: 300n, 3: 100n, 4: 1n };
    const fitted = (fit_total: number) => amounts(policyOf([{}], { fit_total }), factsWith([points]));
    assert.deepEqual(fitted(100), { 1: 59n, 2: 29n, 3: 9n });
    assert.deepEqual(fitted(1001), points);
  });

  it('need every rule measured', () => {
    assert.throws(() => computeScores(policyOf([{}, {}]), factsWith([{}])), ScoringError);
  });
});

describe('scores of random policies and facts', () => {
  const randomDecimal = (random: Random): string =>
    random.oneIn(3)
      ? String(1 + random.integer(50))
      : `${random.integer(20)}.${random.integer(999)}${1 + random.integer(9)}`;

  function randomCase(seed: number) {
    const random = randomFrom(seed);
    const some = (make: () => object): object => (random.oneIn(2) ? make() : {});
    const rules = Array.from({ length: 1 + random.integer(5) }, () => ({
      weight: randomDecimal(random),
      divisor: randomDecimal(random),
      ...some(() => ({ cap: randomDecimal(random) })),
      ...some(() => ({ minimum: randomDecimal(random) })),
    }));
    const minimum = 1 + random.integer(30);
    const more = {
      ...some(() => ({ minimum })),
      ...some(() => ({ cap: minimum + random.integer(100) })),
      ...some(() => ({ fit_total: 1 + random.integer(2000) })),
      exclude: [`0x${account(random.integer(30))}`],
    };
    const measures = rules.map(() =>
      Object.fromEntries(
        Array.from({ length: random.integer(30) }, () => [
          random.integer(30),
          1n + BigInt(random.integer(10_000)),
        ]),
      ),
    );
    const denominators = rules.map(() => 1n + BigInt(random.integer(1_000)));
    return { random, rules, more, measures, denominators };
  }

  it('equal a model with plain fractions', () => {
    let scored = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const { rules, more, measures, denominators } = randomCase(seed);
      const [policy, facts] = [policyOf(rules, more), factsWith(measures, denominators)];
      const list = computeScores(policy, facts);
      assert.deepEqual(
        scoresOf(policy, facts),
        new Map([...modelScores(policy, facts)].sort(([a], [b]) => (a < b ? -1 : 1))),
        `seed ${seed}`,
      );
      assert.equal(
        list.total,
        list.scores.reduce((sum, { amount }) => sum + amount, 0n),
      );
      scored += list.scores.length;
    }
    assert.ok(scored > 1_000, `${scored} scores are too few to prove anything`);
  });

  it('do not depend on any order', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { random, rules, more, measures, denominators } = randomCase(seed);
      const shuffled = <T>(items: readonly T[]): T[] => {
        const rest = [...items];
        return items.map(() => rest.splice(random.integer(rest.length), 1)[0] as T);
      };
      const facts = factsWith(measures, denominators);
      const list = computeScores(policyOf(rules, more), facts);
      const other = {
        ...facts,
        measures: new Map(
          shuffled([...facts.measures]).map(([name, measure]) => [
            name,
            { ...measure, values: new Map(shuffled([...measure.values])) },
          ]),
        ),
      };
      const named = rules.map((rule, index) => ({ ...rule, name: `r${index}` }));
      assert.deepEqual(computeScores(policyOf(shuffled(named), more), other), list, `seed ${seed}`);
    }
  });

  it('rise with the cap, fall with the minimum, and with any measured value never fall', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { random, rules, measures, denominators } = randomCase(seed);
      const facts = factsWith(measures, denominators);
      const by = (policy: Policy, of = facts) => scoresOf(policy, of);
      const never = (low: Map<string, bigint>, high: Map<string, bigint>, what: string): void => {
        for (const [address, amount] of low)
          assert.ok(amount <= (high.get(address) ?? 0n), `seed ${seed}: ${what} of ${address}`);
      };
      const low = 1 + random.integer(50);
      const high = low + random.integer(50);
      never(by(policyOf(rules, { cap: low })), by(policyOf(rules, { cap: high })), 'cap');
      never(by(policyOf(rules, { minimum: high })), by(policyOf(rules, { minimum: low })), 'minimum');
      const grown = (values: Record<string, bigint>) =>
        Object.fromEntries(
          Object.entries(values).map(([n, value]) => [n, value + BigInt(random.integer(50))]),
        );
      const more = factsWith(measures.map(grown), denominators);
      never(by(policyOf(rules)), by(policyOf(rules), more), 'more of it');
    }
  });

  it('are the last amount of their explanation', () => {
    for (let seed = 1; seed <= 100; seed++) {
      const { rules, more, measures, denominators } = randomCase(seed);
      const [policy, facts] = [policyOf(rules, more), factsWith(measures, denominators)];
      const scores = scoresOf(policy, facts);
      for (let n = 0; n < 31; n++) {
        const reasons = explain(policy, facts, `0x${account(n)}`, 'init');
        const score = scores.get(`0x${account(n)}`) ?? 0n;
        assert.equal(reasons.at(-1)?.amount, score, `seed ${seed}, account ${n}`);
        assert.deepEqual(
          reasons.slice(0, rules.length).map(({ rule }) => rule),
          rules.map((_, index) => `r${index}`),
        );
      }
    }
  });
});

describe('an explanation', () => {
  const policy = policyOf([{ weight: '1.5', divisor: 2, cap: 100 }, { minimum: 5 }], {
    minimum: 10,
    cap: 90,
    fit_total: 100,
    exclude: [`0x${account(9)}`],
  });
  const facts = factsWith(
    [
      { 1: 1000n, 2: 33n, 3: 1n, 9: 50n },
      { 1: 3n, 2: 5n },
    ],
    [1n, 3n],
  );
  const why = (n: number): string[] =>
    explain(policy, facts, `0x${account(n)}`, 'init').map(
      ({ rule, text, amount }) => `${rule}: ${text} -> ${amount}`,
    );

  it('tells every step with its numbers', () => {
    assert.deepEqual(why(1), [
      "r0: 1,000 given by f × 1.5 ÷ 2 = 750 points, cut to the rule's cap of 100 -> 100",
      "r1: 1 given by f = 1 points, which is below the rule's minimum of 5 -> 100",
      'total: the points of all rules, rounded down: 100 -> 100',
      'cap: cut to the cap of 90 -> 90',
      'fit_total: × 100 ÷ 114, because all scores add up to the latter -> 78',
    ]);
    assert.deepEqual(why(2), [
      'r0: 33 given by f × 1.5 ÷ 2 = 24.75 points -> 24',
      "r1: ≈1.666666 given by f = ≈1.666666 points, which is below the rule's minimum of 5 -> 24",
      'total: the points of all rules, rounded down: 24 -> 24',
      'fit_total: × 100 ÷ 114, because all scores add up to the latter -> 21',
    ]);
    assert.equal(why(3).at(-1), 'no_score: less than one point is no score -> 0');
    assert.equal(why(9).at(-1), 'excluded: the policy excludes this address -> 0');
    assert.equal(why(77).at(-1), 'no_score: less than one point is no score -> 0');
    assert.equal(why(0).at(-1), 'no_score: the zero address has no score -> 0');
  });

  it('takes bech32 and hex for one account, knows those of 32 bytes, and refuses what is neither', () => {
    const hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
    const of = (address: string) => explain(policyOf([{}]), factsWith([{}]), address, 'init');
    assert.deepEqual(of('init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz'), of(hex));
    assert.match(of(`0x${'ab'.repeat(32)}`)[0]?.text ?? '', /32 bytes/);
    assert.throws(() => of('cosmos1nope'), /neither bech32 nor 0x hex/);
  });

  it('of the run counts what became of everybody', () => {
    const facts = factsWith([{ 0: 9n, 1: 2n, 2: 3n, 3: 9n }, { 1: 5n }]);
    const second = { ...(facts.measures.get('r1') as Measure), left_out: 3 };
    const measures = new Map([...facts.measures, ['r1', second]]);
    const policy = policyOf([{}, {}], { minimum: 4, cap: 6 });
    assert.deepEqual(describeRun(policy, { ...facts, measures }), {
      policy_hash: policy.hash,
      scored: 2,
      total: 12n,
      without: { excluded: 0, zero_address: 1, below_one: 0, below_minimum: 1 },
      capped: 2,
      fitted: 0,
      rules: [
        { name: 'r0', kind: 'source', accounts: 4, left_out: 0 },
        { name: 'r1', kind: 'source', accounts: 1, left_out: 3 },
      ],
    });
  });
});
