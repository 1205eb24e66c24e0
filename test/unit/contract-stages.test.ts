import assert from 'node:assert/strict';
import { findFirstStage, readStages } from '../../services/scoring-operator/machine/contract-stages.js';

/** A contract whose stages are those that a condition holds for, and a count of the questions. */
function contractWith(has: (stage: bigint) => boolean, is_finalized: (stage: bigint) => boolean) {
  const asked: bigint[] = [];
  const stage = async (wanted: bigint) => {
    asked.push(wanted);
    return has(wanted) ? { stage: wanted, total_score: 0n, is_finalized: is_finalized(wanted) } : undefined;
  };
  return { stage, asked };
}

const always = () => true;

describe('the stages of a contract', () => {
  it('are read up to the oldest open one', async () => {
    const contract = contractWith(
      (stage) => stage <= 40n,
      (stage) => stage < 38n,
    );
    const stages = (await readStages(contract, 5n, 60n)).map(({ stage }) => stage);
    assert.deepEqual([stages[0], stages.at(-1), stages.length], [5n, 38n, 34]);
  });

  it('are not read for ever where all of them are finalized', async () => {
    const contract = contractWith(always, always);
    const stages = await readStages(contract, 5n, 9n);
    assert.ok(stages.some(({ stage }) => stage === 9n));
    assert.ok(contract.asked.length <= 40, `${contract.asked.length} questions`);
    // The first stage of the contract may be above what the L1 has come to.
    assert.equal((await readStages(contract, 50n, 9n))[0]?.stage, 50n);
  });

  it('begin below the newest one where the first gap is', async () => {
    for (const highest of [60n, 3_000n, 10_000n, 2n ** 63n]) {
      const [first, newest] = [highest - 57n, highest - 3n];
      const has = (stage: bigint) => stage >= first && stage <= newest;
      assert.equal(await findFirstStage(contractWith(has, always), highest), first);
    }
    assert.equal(await findFirstStage(contractWith(always, always), 60n), 1n);
  });

  it('are not looked for without an end: a person tells the first one then', async () => {
    for (const has of [always, () => false]) {
      const contract = contractWith(has, always);
      assert.equal(await findFirstStage(contract, 2n ** 63n), undefined);
      assert.ok(contract.asked.length <= 5_000, `${contract.asked.length} questions`);
    }
  });
});
