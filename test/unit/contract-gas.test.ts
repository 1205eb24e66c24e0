import assert from 'node:assert/strict';
import {
  gasFor,
  offerPrice,
  raisePrice,
  readRollupGasLimit,
} from '../../services/scoring-operator/contract/fees.js';
import {
  batchSize,
  guessedGas,
  halve,
  planBatches,
} from '../../services/scoring-operator/contract/score-sender.js';
import { highestPrice } from '../../services/scoring-operator/contract/tx.js';
import { scoresOf } from '../support/score-contract.js';

const limits = { ...guessedGas, max_scores: 500, gas_limit: undefined, margin_percent: 25 };

describe('batches of scores', () => {
  it('keep every score, in order, once', () => {
    for (const count of [0, 1, 499, 500, 501, 1_003]) {
      for (const gas_limit of [undefined, 100_000n, 3_000_000n, 30_000_000n]) {
        const scores = scoresOf(count);
        const batches = planBatches(scores, { ...limits, gas_limit });
        assert.deepEqual(batches.flat(), scores);
        const sizes = batches.map(({ length }) => length);
        assert.ok(sizes.every((size) => size >= 1 && size <= batchSize({ ...limits, gas_limit })));
        assert.ok(sizes.length === 0 || Math.max(...sizes) - Math.min(...sizes) <= 1, 'even');
      }
    }
  });

  it('leave room for the margin', () => {
    for (const gas_limit of [500_000n, 3_000_000n, 60_000_000n]) {
      const size = BigInt(batchSize({ ...limits, gas_limit }));
      const gas = guessedGas.base_gas + size * guessedGas.gas_per_score;
      assert.ok((gas * 125n) / 100n <= gas_limit, String(gas_limit));
    }
  });

  it('hold one score at least, however little gas there is', () => {
    assert.equal(batchSize({ ...limits, gas_limit: 1n }), 1);
    assert.equal(batchSize({ ...limits, max_scores: 0 }), 1);
  });

  it('are halved down to one', () => {
    assert.deepEqual(
      halve(scoresOf(3))?.map(({ length }) => length),
      [2, 1],
    );
    assert.equal(halve(scoresOf(1)), undefined);
    assert.equal(halve([]), undefined);
  });
});

describe('gas of a tx', () => {
  it('is the estimate and a margin, within the least limit', () => {
    assert.equal(gasFor(1_000n, 25, { rollup: 0n, block: 0n }), 1_250n);
    assert.equal(gasFor(1_000n, 25, { rollup: 1_100n, block: 5_000n }), 1_100n);
    assert.equal(gasFor(1_000n, 25, { rollup: 0n, block: 1_000n }), 1_000n);
    assert.equal(gasFor(1_000n, 25, { rollup: 999n, block: 5_000n }), undefined);
  });

  it('is limited by the rollup unless it says otherwise', () => {
    const of = (gas_enforcement: unknown, status = 200) =>
      readRollupGasLimit(status, JSON.stringify({ params: { gas_enforcement } }), '0xAbC');
    assert.equal(of(null), 0n);
    assert.equal(of(undefined), 0n);
    assert.equal(of({ max_gas_limit: '3000000', unlimited_gas_senders: [] }), 3_000_000n);
    assert.equal(of({ max_gas_limit: '3000000' }), 3_000_000n);
    assert.equal(of({ max_gas_limit: '0' }), 0n);
    assert.equal(of({ max_gas_limit: '3000000', unlimited_gas_senders: ['0xaBc'] }), 0n);
    assert.equal(readRollupGasLimit(501, 'Not Implemented', '0xabc'), 0n);
    assert.throws(() => readRollupGasLimit(502, '<html>', '0xabc'), /no JSON/);
    assert.throws(() => readRollupGasLimit(500, '{"code":2}', '0xabc'), /HTTP 500/);
  });
});

describe('the price of gas', () => {
  const facts = { gas_price: 0n, base_fee: undefined, priority_fee: 0n, block_gas_limit: 0n };

  it('is the one number of a node without a base fee', () => {
    assert.deepEqual(offerPrice({ ...facts, gas_price: 7n }), { gas_price: 7n });
  });

  it('is nothing where gas is free, whatever the default for tips', () => {
    assert.equal(highestPrice(offerPrice({ ...facts, base_fee: 0n, priority_fee: 1_000_000_000n })), 0n);
    assert.equal(highestPrice(offerPrice(facts)), 0n);
  });

  it('covers two rises of the base fee, and is never below what the node names', () => {
    const rising = offerPrice({ ...facts, gas_price: 110n, base_fee: 100n, priority_fee: 10n });
    assert.deepEqual(rising, { max_fee: 135n, max_priority_fee: 10n });
    const named = offerPrice({ ...facts, gas_price: 500n, base_fee: 100n, priority_fee: 0n });
    assert.deepEqual(named, { max_fee: 500n, max_priority_fee: 0n });
  });

  it('rises by more than a tenth for a replacement, tips included', () => {
    for (const old of [1n, 9n, 80n, 1_000_000_007n]) {
      const none = { max_fee: 0n, max_priority_fee: 0n };
      const raised = raisePrice({ max_fee: old, max_priority_fee: old }, none, true);
      const legacy = raisePrice({ gas_price: old }, { gas_price: 0n }, true);
      for (const price of Object.values({ ...raised, ...legacy })) assert.ok(price * 10n > old * 11n);
      assert.deepEqual(Object.keys(raised), Object.keys(none));
    }
  });

  it('follows the node when that asks for more, and stays nothing for who has nothing', () => {
    assert.deepEqual(raisePrice({ gas_price: 1n }, { gas_price: 100n }, true), { gas_price: 100n });
    assert.deepEqual(raisePrice({ gas_price: 0n }, { gas_price: 0n }, false), { gas_price: 0n });
    assert.deepEqual(raisePrice({ gas_price: 0n }, { gas_price: 0n }, true), { gas_price: 1n });
  });
});
