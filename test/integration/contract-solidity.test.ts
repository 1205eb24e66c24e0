import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Contract, Interface, isError, type Log } from 'ethers';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { readArtifact, scoreInterface } from '../../services/scoring-operator/contract/artifact.js';
import { anvilOrSkip } from '../support/anvil.js';
import { addressOf, deployKind, plainContract, scoresOf, transact } from '../support/score-contract.js';
import { startBefore } from '../support/suite.js';

const top = 2n ** 64n - 1n;
const [a, b, c] = [addressOf(1), addressOf(2), addressOf(3)];
const zero = `0x${'0'.repeat(40)}`;

/** Runs a call and gives the error that the contract threw: name and arguments. */
async function thrown(contract: Contract, name: string, ...args: unknown[]): Promise<string> {
  try {
    await contract.getFunction(name).staticCall(...args);
  } catch (error) {
    if (!isError(error, 'CALL_EXCEPTION')) throw error;
    if ((error.data ?? '0x') === '0x') return 'no reason';
    const parsed = scoreInterface.parseError(error.data as string);
    return parsed === null ? 'unknown' : `${parsed.name}(${parsed.args.join(',')})`;
  }
  return 'nothing';
}

/** The events of a receipt. */
const events = (logs: readonly Log[]): string[] =>
  logs.map((log) => {
    const parsed = scoreInterface.parseLog(log);
    return `${parsed?.name}(${parsed?.args.join(',')})`;
  });

const rows = async (contract: Contract, stage: bigint, offset = 0n, limit = 5n): Promise<string[]> =>
  (await contract.getFunction('getScores')(stage, offset, limit)).map((row: unknown[]) =>
    row.join(':').toLowerCase(),
  );

const stageOf = async (contract: Contract, stage: bigint): Promise<string> =>
  (await contract.getFunction('stages')(stage)).join(':');

describe('the scoring contract on a real EVM', function () {
  this.timeout(120_000);
  const anvil = startBefore(
    (test) => anvilOrSkip(test, { gas_limit: 100_000_000 }),
    (anvil) => anvil.stop(),
  );
  let address: string;
  let contract: Contract;
  let stranger: Contract;

  beforeEach(async () => {
    address = await deployKind(anvil, 'ours', 5n);
    contract = plainContract(anvil, address);
    stranger = plainContract(anvil, address, 1);
  });

  it('is what its source compiles to, byte for byte', () => {
    const run = spawnSync(process.execPath, [join(packageRoot, 'contracts/build.mjs'), '--check'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
  });

  it('has the functions, events and errors that operators and agents know, and one error more', () => {
    const ours = new Interface(readArtifact().abi);
    const known = (one: Interface): string[] =>
      one.fragments
        .filter(({ type }) => type !== 'constructor')
        .map((fragment) => fragment.format('sighash'))
        .sort();
    const ofCompiler = ['Error(string)', 'Panic(uint256)'];
    assert.deepEqual(
      known(ours),
      known(scoreInterface).filter((one) => !ofCompiler.includes(one)),
    );
    assert.equal(ours.getError('StageNotFound')?.selector, '0x6271a685');
    assert.equal(ours.getFunction('updateScores')?.selector, '0x45a2b96b');
    assert.equal(ours.getFunction('finalizeStage')?.selector, '0x17abbd50');
    for (const name of ['getScores', 'stages', 'scores', 'allowList', 'initStage', 'updateScores']) {
      const [left, right] = [ours.getFunction(name), scoreInterface.getFunction(name)];
      assert.equal(
        left?.outputs.map((o) => o.format()).join(),
        right?.outputs.map((o) => o.format()).join(),
        name,
      );
      assert.equal(left?.stateMutability, right?.stateMutability, name);
    }
  });

  it('opens its first stage when it is made, and lets its maker write', async () => {
    assert.equal(await contract.getFunction('initStage')(), 5n);
    assert.equal(await stageOf(contract, 5n), '5:0:false');
    assert.equal(await stageOf(contract, 4n), '0:0:false');
    assert.equal(await stageOf(contract, 6n), '0:0:false');
    assert.equal(await contract.getFunction('allowList')(anvil.accounts[0]?.address), true);
    assert.equal(await contract.getFunction('allowList')(anvil.accounts[1]?.address), false);
    await assert.rejects(deployKind(anvil, 'ours', 0n), /ZeroStage|revert|failed/i);
  });

  it('sets absolute values and keeps the total', async () => {
    const first = await transact(contract, 'updateScores', 5n, [a, b, c], [10n, 20n, 30n]);
    assert.deepEqual(
      events(first.logs as unknown as Log[]).map((event) => event.toLowerCase()),
      [`updatescore(${a},5,10,10)`, `updatescore(${b},5,20,30)`, `updatescore(${c},5,30,60)`],
    );
    assert.equal(first.logs[0]?.topics.length, 3, 'address and stage are indexed');
    await transact(contract, 'updateScores', 5n, [b, a], [1n, 0n]);
    await transact(contract, 'updateScore', 5n, c, 7n);
    assert.equal(await stageOf(contract, 5n), '5:8:false');
    assert.deepEqual(await rows(contract, 5n, 0n, 4n), [`${a}:0:1`, `${b}:1:2`, `${c}:7:3`, `${zero}:0:0`]);
    assert.deepEqual([...(await contract.getFunction('scores')(5n, a))], [true, 0n]);
    assert.deepEqual([...(await contract.getFunction('scores')(5n, addressOf(9)))], [false, 0n]);
  });

  it('takes the last of equal addresses, once in the list', async () => {
    await transact(contract, 'updateScores', 5n, [a, a, a], [5n, 9n, 3n]);
    assert.deepEqual(await rows(contract, 5n, 0n, 2n), [`${a}:3:1`, `${zero}:0:0`]);
    assert.equal(await stageOf(contract, 5n), '5:3:false');
  });

  it('leaves the zero address out', async () => {
    const receipt = await transact(contract, 'updateScores', 5n, [zero, a], [7n, 1n]);
    assert.equal(receipt.logs.length, 1);
    await transact(contract, 'increaseScore', 5n, zero, 7n);
    await transact(contract, 'decreaseScore', 5n, zero, 7n);
    assert.equal(await stageOf(contract, 5n), '5:1:false');
    assert.deepEqual(await rows(contract, 5n, 0n, 2n), [`${a}:1:1`, `${zero}:0:0`]);
  });

  it('increases and decreases', async () => {
    await transact(contract, 'increaseScore', 5n, a, 10n);
    await transact(contract, 'increaseScore', 5n, a, 5n);
    const down = await transact(contract, 'decreaseScore', 5n, a, 4n);
    assert.deepEqual(
      events(down.logs as unknown as Log[]).map((e) => e.toLowerCase()),
      [`updatescore(${a},5,11,11)`],
    );
    assert.equal(await stageOf(contract, 5n), '5:11:false');
  });

  it('refuses sums that leave 64 bits, and changes nothing then', async () => {
    await transact(contract, 'updateScores', 5n, [a, b], [top - 1n, 1n]);
    const out = `ScoreOutOfRange(${c},5)`.toLowerCase();
    assert.equal((await thrown(contract, 'updateScore', 5n, c, 1n)).toLowerCase(), out);
    assert.equal((await thrown(contract, 'updateScores', 5n, [c], [1n])).toLowerCase(), out);
    assert.equal((await thrown(contract, 'increaseScore', 5n, c, 1n)).toLowerCase(), out);
    assert.equal((await thrown(contract, 'decreaseScore', 5n, c, 1n)).toLowerCase(), out);
    assert.match(await thrown(contract, 'increaseScore', 5n, a, 2n), /^ScoreOutOfRange/);
    assert.match(await thrown(contract, 'decreaseScore', 5n, b, 2n), /^ScoreOutOfRange/);
    assert.equal(await stageOf(contract, 5n), `5:${top}:false`);
    await transact(contract, 'updateScores', 5n, [a, b, c], [0n, 0n, top]);
    assert.equal(await stageOf(contract, 5n), `5:${top}:false`);
  });

  it('finalizes a stage once, and only the open one', async () => {
    const receipt = await transact(contract, 'finalizeStage', 5n);
    assert.deepEqual(events(receipt.logs as unknown as Log[]), ['FinalizeStage(5)', 'CreateStage(6)']);
    assert.equal(await stageOf(contract, 5n), '5:0:true');
    assert.equal(await stageOf(contract, 6n), '6:0:false');
    assert.equal(await thrown(contract, 'finalizeStage', 5n), 'StageFinalized(5)');
    assert.equal(await thrown(contract, 'finalizeStage', 7n), 'PreviousStageNotFinalized(6)');
    assert.equal(await thrown(contract, 'finalizeStage', 8n), 'StageNotFound(8)');
    assert.equal(await thrown(contract, 'finalizeStage', 4n), 'StageNotFound(4)');
    assert.equal(await thrown(contract, 'finalizeStage', 0n), 'StageNotFound(0)');
  });

  it('takes no score of a stage that is closed or not there', async () => {
    await transact(contract, 'updateScore', 5n, a, 3n);
    await transact(contract, 'finalizeStage', 5n);
    for (const [name, ...args] of [
      ['updateScore', a, 1n],
      ['increaseScore', a, 1n],
      ['decreaseScore', a, 1n],
      ['updateScores', [a], [1n]],
      ['updateScores', [], []],
      ['updateScore', zero, 1n],
    ] as const) {
      assert.equal(await thrown(contract, name, 5n, ...args), 'StageFinalized(5)', name);
      assert.equal(await thrown(contract, name, 7n, ...args), 'StageNotFound(7)', name);
    }
    assert.deepEqual(await rows(contract, 5n, 0n, 1n), [`${a}:3:1`]);
  });

  it('refuses lists of different lengths', async () => {
    assert.equal(
      await thrown(contract, 'updateScores', 5n, [a, b], [1n]),
      'AddrsAndAmountsLengthMistmatch()',
    );
    assert.equal(await thrown(contract, 'updateScores', 5n, [], [1n]), 'AddrsAndAmountsLengthMistmatch()');
  });

  it('lets only allowed accounts write anything', async () => {
    const who = anvil.accounts[1]?.address as string;
    const denied = `PermissionDenied(${who})`;
    for (const [name, ...args] of [
      ['updateScores', 5n, [a], [1n]],
      ['updateScore', 5n, a, 1n],
      ['increaseScore', 5n, a, 1n],
      ['decreaseScore', 5n, a, 1n],
      ['finalizeStage', 5n],
      ['addAllowList', who],
      ['removeAllowList', anvil.accounts[0]?.address],
    ] as const) {
      assert.equal(await thrown(stranger, name, ...args), denied, name);
    }
    await transact(contract, 'addAllowList', who);
    await transact(stranger, 'updateScore', 5n, a, 1n);
    await transact(stranger, 'removeAllowList', anvil.accounts[0]?.address);
    assert.match(await thrown(contract, 'updateScore', 5n, a, 2n), /^PermissionDenied/);
  });

  it('gives pages of exactly the length asked for', async () => {
    const scores = scoresOf(7);
    const [addrs, amounts] = [scores.map((s) => s.address), scores.map((s) => s.amount)];
    await transact(contract, 'updateScores', 5n, addrs, amounts);
    assert.deepEqual(await rows(contract, 5n, 6n, 3n), [`${addrs[6]}:7:7`, `${zero}:0:0`, `${zero}:0:0`]);
    assert.deepEqual(await rows(contract, 5n, 7n, 1n), [`${zero}:0:0`]);
    assert.deepEqual(await rows(contract, 5n, top, 1n), [`${zero}:0:0`]);
    assert.deepEqual(await rows(contract, 5n, 0n, 0n), []);
    assert.deepEqual(await rows(contract, 99n, 0n, 1n), [`${zero}:0:0`]);
  });

  it('takes 500 scores in one tx; what they cost', async () => {
    const scores = scoresOf(500);
    const [addrs, amounts] = [scores.map((s) => s.address), scores.map((s) => s.amount)];
    const fresh = await transact(contract, 'updateScores', 5n, addrs, amounts);
    const again = await transact(
      contract,
      'updateScores',
      5n,
      addrs,
      amounts.map((n) => n + 1n),
    );
    assert.equal(fresh.status, 1);
    assert.ok(fresh.gasUsed < 27_000_000n, `500 fresh scores take ${fresh.gasUsed} gas`);
    assert.ok(again.gasUsed < 6_000_000n, `500 changed scores take ${again.gasUsed} gas`);
  });
});

describe('contracts like those in use, on a real EVM', () => {
  const anvil = startBefore(
    (test) => anvilOrSkip(test),
    (anvil) => anvil.stop(),
  );

  it('finalize a finalized stage again, and wrap', async () => {
    const contract = plainContract(anvil, await deployKind(anvil, 'lenient', 5n));
    await transact(contract, 'updateScores', 5n, [a, b, zero], [top, 2n, 9n]);
    assert.equal(await stageOf(contract, 5n), '5:1:false');
    await transact(contract, 'finalizeStage', 5n);
    const again = await transact(contract, 'finalizeStage', 5n);
    assert.equal(again.status, 1);
    assert.deepEqual(events(again.logs as unknown as Log[]), ['FinalizeStage(5)']);
    assert.deepEqual(await rows(contract, 5n, 0n, 3n), [`${a}:${top}:1`, `${b}:2:2`, `${zero}:0:0`]);
  });

  it('of the oldest kind have no initStage, and open a stage by its first update', async () => {
    const contract = plainContract(anvil, await deployKind(anvil, 'oldest'));
    assert.equal(await thrown(contract, 'initStage'), 'no reason');
    assert.equal(await thrown(contract, 'finalizeStage', 5n), 'StageNotFound(5)');
    await transact(contract, 'updateScore', 5n, a, 1n);
    await transact(contract, 'finalizeStage', 5n);
    assert.equal(await stageOf(contract, 6n), '0:0:false');
    await transact(contract, 'updateScore', 6n, a, 1n);
    assert.equal(await stageOf(contract, 6n), '6:1:false');
  });
});
