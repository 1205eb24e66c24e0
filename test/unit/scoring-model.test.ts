import assert from 'node:assert/strict';
import { ContractError } from '../../services/scoring-operator/contract/errors.js';
import type { ScoreSender } from '../../services/scoring-operator/machine/ports.js';
import { exitCodeOf, runPass, type Step } from '../../services/scoring-operator/machine/run.js';
import type { Rules } from '../../services/scoring-operator/machine/types.js';
import { hashOfScores } from '../../services/scoring-operator/policy/result.js';
import type { StageTx } from '../../services/scoring-operator/store/rows.js';
import { type Random, randomFrom } from '../support/random.js';
import { easy, type Hardship, Killed, processOver } from '../support/scoring/process.js';
import { emptyTables, type MemoryTables } from '../support/scoring/store.js';
import { World } from '../support/scoring/world.js';

const plainRules: Rules = {
  margin_s: 0,
  approval: 'Automatic',
  approved_stage: undefined,
  allow_empty: [],
  stop_at_stage: undefined,
};

/** How a process learns when stages were that it has not watched. */
type TimesFrom = 'l1' | 'person' | 'counting';

const processWith = (
  source: TimesFrom,
  world: World,
  tables: MemoryTables,
  hardship: Hardship,
  random: Random,
) =>
  processOver(
    world,
    tables,
    hardship,
    random,
    source === 'person' ? world.told() : [],
    source === 'counting',
  );

/** Passes of two processes at most, of which any may be killed. */
async function runSome(
  world: World,
  tables: MemoryTables,
  hardship: Hardship,
  seed: number,
  source: TimesFrom = 'l1',
) {
  const random = randomFrom(seed);
  const late = async () => {
    for (let steps = random.integer(300); steps > 0; steps--) await null;
    return one();
  };
  const one = () => runPass(processWith(source, world, tables, hardship, random));
  const two = random.oneIn(2);
  const results = await Promise.allSettled(two ? [one(), late()] : [one()]);
  for (const result of results) {
    if (result.status === 'rejected' && !(result.reason instanceof Killed)) throw result.reason;
  }
}

/** A person reads the list of the oldest open stage, finds it right, and approves it. */
function approve(world: World, { runs }: MemoryTables): void {
  const stage = (world.finalizations.at(-1) ?? world.initStage - 1n) + 1n;
  const run = runs.get(stage);
  if (run === undefined) return;
  world.rules = { ...world.rules, approved_stage: stage, approved_list: run.list_hash };
}

/** Rows of our own tables are lost: lists, runs, txs, or what was seen of the L1. */
function lose(world: World, tables: MemoryTables, random: Random): void {
  const kind = random.pick(['lists', 'lists', 'runs', 'txs', 'seen'] as const);
  for (const [key, row] of tables[kind]) {
    if (random.oneIn(2)) continue;
    (tables[kind] as Map<unknown, unknown>).delete(key);
    if ('stage' in row) world.lost.add(row.stage);
  }
}

/** A history of an L1 and a rollup with everything that may go wrong, then with all well again. */
async function history(seed: number): Promise<{ readonly world: World; readonly tables: MemoryTables }> {
  const random = randomFrom(seed);
  const initStage = BigInt(1 + random.integer(4));
  const l1Stage = initStage + BigInt(random.integer(4));
  const world = new World(random, random.pick(['ours', 'lenient', 'oldest']), initStage, l1Stage, {
    ...plainRules,
    margin_s: random.pick([0, 60, 300]),
    approval: random.oneIn(4) ? 'Manual' : 'Automatic',
  });
  if (random.oneIn(2))
    world.registration = { init_stage: initStage + BigInt(random.integer(3)), isOurs: true };
  const tables = emptyTables();
  const hardship: Hardship = {
    killOneIn: random.pick([0, 30, 80, 200]),
    failOneIn: random.pick([0, 10, 40]),
    lostReplyOneIn: random.pick([0, 2, 5]),
    moveOneIn: random.pick([3, 10, 40]),
  };
  const source = random.pick<TimesFrom>(['l1', 'person', 'counting']);
  world.saysTimes = source === 'l1';
  // Whoever counts relies on stages being of one length.
  const intervalChanges = source !== 'counting' && random.oneIn(3);
  for (let turn = 6 + random.integer(14); turn > 0; turn--) {
    world.pass(random.integer(400));
    if (random.oneIn(3))
      world.nextStage(intervalChanges && random.oneIn(2) ? 500 + random.integer(1000) : undefined);
    world.l1Faults = {
      isDown: random.oneIn(8),
      isStanding: random.oneIn(8),
      lag: random.oneIn(6) ? random.integer(20) : 0,
    };
    world.indexLag_s = random.pick([0, 0, 20, 700, 3_000]);
    world.contractDown = random.oneIn(10);
    world.isOtherChain = random.oneIn(12);
    world.isAllowed = true;
    if (random.oneIn(6)) world.interfere();
    world.isAllowed = !random.oneIn(12);
    if (random.oneIn(10)) world.dropPool();
    // What is under way to be finalized cannot be called back.
    if (random.oneIn(8) && world.pool.length === 0) world.rollback(random.integer(200));
    world.l1Lie = random.oneIn(3)
      ? random.pick(['next stage', 'cut stage', 'far future', 'drift'] as const)
      : undefined;
    world.isL1Balanced = random.oneIn(3);
    world.indexReplicaLag_s = random.pick([0, 0, 30, 900]);
    if (random.oneIn(6)) world.getStuck();
    if (random.oneIn(8)) world.stuck = [];
    world.areReceiptsWrong = random.oneIn(3);
    if (random.oneIn(6)) lose(world, tables, random);
    if (random.oneIn(3)) approve(world, tables);
    if (random.oneIn(3)) await runSome(world, tables, hardship, seed * 100 + turn, source);
  }

  // All is well again: whatever can be finalized is, in time.
  Object.assign(world, {
    l1Faults: { isDown: false, isStanding: false, lag: 0 },
    indexLag_s: 0,
    contractDown: false,
    isOtherChain: false,
    isAllowed: true,
    l1Lie: undefined,
    isL1Balanced: false,
    indexReplicaLag_s: 0,
    stuck: [],
    areReceiptsWrong: false,
  });
  for (let turn = 0; turn < 9; turn++) {
    world.pass(400);
    if (turn % 3 === 0) world.nextStage();
    const all = [...world.truth.keys(), world.l1.stage];
    world.rules = { ...world.rules, allow_empty: all };
    // Each list needs its own approval.
    for (let lists = 0; lists < 9; lists++) {
      const step = await runPass(processWith(source, world, tables, easy, random));
      world.mine();
      if (reasonOf(step) !== 'ApprovalNeeded') break;
      approve(world, tables);
    }
  }
  // Without the world moving on under it, one more pass leaves nothing to do.
  await runPass(processWith(source, world, tables, { ...easy, moveOneIn: 0 }, random));
  return { world, tables };
}

/**
 * Stages that are finalized although the tables say something else of them or of their txs. Of two txs with one nonce,
 * which two processes have signed, the one that was mined tells enough.
 */
function unknownIn({ runs, txs }: MemoryTables, { finalizations, lost }: World): bigint[] {
  const all = [...txs.values()].filter(({ stage }) => !lost.has(stage));
  const isOpen = ({ nonce, state }: StageTx): boolean =>
    state === 'signed' && !all.some((other) => other.nonce === nonce && /^(mined|failed)$/.test(other.state));
  return finalizations.filter(
    (stage) =>
      !lost.has(stage) &&
      (runs.get(stage)?.is_finalized !== true || all.some((tx) => tx.stage === stage && isOpen(tx))),
  );
}

/** A process that is to finalize stage 3, in a world that does not move on under it. */
function still(rules: Partial<Rules> = {}, seed = 5) {
  const random = randomFrom(seed);
  const world = new World(random, 'ours', 3n, 5n, { ...plainRules, stop_at_stage: 3n, ...rules });
  const tables = emptyTables();
  const machine = processOver(world, tables, { ...easy, moveOneIn: 0 }, random);
  const sending = (sender: Partial<ScoreSender>) => ({
    ...machine,
    sender: { ...machine.sender, ...sender },
  });
  return { world, tables, machine, sending };
}

const reasonOf = ({ decision }: Step) => 'reason' in decision && decision.reason;
const messageOf = ({ decision }: Step) => ('message' in decision ? decision.message : undefined) ?? '';
/** The world after stage 3 was finalized, once and rightly. */
const isRight = ({ finalizations, violations }: World): void =>
  assert.deepEqual([finalizations, violations], [[3n], []]);

const hard: Hardship = { killOneIn: 50, failOneIn: 10, lostReplyOneIn: 3, moveOneIn: 4 };

describe('the stage machine over random histories', function () {
  this.timeout(120_000);

  it('never does what must not be done, and always gets there once all is well', async () => {
    const [histories, first] = [Number(process.env['HISTORIES'] ?? 1_200), Number(process.env['SEED'] ?? 1)];
    let finalized = 0;
    for (let seed = first; seed < first + histories; seed++) {
      const { world, tables } = await history(seed);
      assert.deepEqual(world.violations, [], `seed ${seed}`);
      assert.deepEqual(unknownIn(tables, world), [], `seed ${seed}: the tables know what is finalized`);
      const { l1, rules } = world;
      const isOver = l1.time >= l1.end + rules.margin_s && world.indexHead().time >= l1.end;
      const expected = isOver ? l1.stage : l1.stage - 1n;
      assert.equal(
        world.finalizations.at(-1),
        expected,
        `seed ${seed}: the last stage that is over is finalized`,
      );
      finalized += world.finalizations.length;
    }
    assert.ok(finalized > histories * 3, `${finalized} stages were finalized in all`);
  });

  it('finalizes once where two processes with one key want to at the same time', async () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = randomFrom(seed);
      const world = new World(random, 'lenient', 3n, 4n, {
        ...plainRules,
        allow_empty: [3n],
        stop_at_stage: 3n,
      });
      const tables = emptyTables();
      const busy = { ...easy, moveOneIn: 2 };
      await runPass({
        ...processOver(world, tables, easy, random),
        phases: { score: true, finalize: false },
      });
      const late = async () => {
        for (let steps = random.integer(60); steps > 0; steps--) await null;
        return runPass(processOver(world, tables, busy, random));
      };
      await Promise.all([late(), late(), late()]);
      world.mine();
      assert.deepEqual(world.violations, [], `seed ${seed}`);
      assert.deepEqual(world.finalizations, [3n], `seed ${seed}`);
    }
  });

  it('goes on with the next stage where somebody else has finalized this one meanwhile', async () => {
    const { world, machine, sending } = still({ allow_empty: [3n, 4n], stop_at_stage: undefined }, 7);
    const steps: Step[] = [];
    const finalize: ScoreSender['finalize'] = async (stage, ...rest) => {
      const first = await machine.sender.finalize(stage, ...rest);
      if (stage !== 3n) return first;
      const revert = { name: 'StageFinalized', args: [3n] };
      throw new ContractError('reverted', 'finalizeStage: StageFinalized', revert);
    };
    const last = await runPass({ ...sending({ finalize }), onStep: (step) => steps.push(step) });
    assert.deepEqual(
      steps.map(({ error }) => error).filter((error) => error !== undefined),
      [],
    );
    assert.equal(last.decision.kind, 'nothing');
    assert.deepEqual([world.finalizations, world.violations], [[3n, 4n], []]);
  });

  it('finalizes nothing that was rolled back while the nonce was waited for', async () => {
    const { world, machine, sending } = still({ allow_empty: [3n] }, 3);
    let waits = 0;
    const finalize: ScoreSender['finalize'] = (stage, guard, ...rest) =>
      machine.sender.finalize(
        stage,
        (height) => {
          if (waits++ === 0) world.rollback(250);
          return guard(height);
        },
        ...rest,
      );
    const changed = sending({ finalize });
    const step = await runPass(changed);
    assert.match(step.error ?? '', /stage 3 has other blocks than when it was scored/);
    await runPass(changed);
    isRight(world);
  });

  it('finalizes nothing that changed while the nonce was waited for, though the sum is the same', async () => {
    const { world, machine, sending } = still({}, 3);
    let waits = 0;
    const finalize: ScoreSender['finalize'] = (stage, guard, ...rest) =>
      machine.sender.finalize(
        stage,
        () => {
          // An update that was stuck in the pool is mined: one address has what another one had.
          const [score] = world.expected(stage)!.scores;
          if (waits++ === 0)
            world.writeAsSomebodyElse(stage, [
              { ...score!, amount: 0n },
              { ...score!, address: `0x${'9'.repeat(40)}` },
            ]);
          return guard(world.newest());
        },
        ...rest,
      );
    const changed = sending({ finalize });
    const step = await runPass(changed);
    assert.match(step.error ?? '', /stage 3 is not what it was when it was read back/);
    assert.deepEqual(world.finalizations, []);
    await runPass(changed);
    isRight(world);
  });

  it('does not wait for what is in the pool once it is to stop', async () => {
    const { tables, machine, sending } = still({ approval: 'Manual' }, 4);
    await runPass(machine);
    const [hash, tx] = [...tables.txs][0]!;
    tables.txs.set(hash, { ...tx, state: 'signed' });
    const stopping = new AbortController();
    let looks = 0;
    const settle: ScoreSender['settle'] = async () => {
      if (++looks === 2) stopping.abort();
      return { kind: 'pending' };
    };
    tables.runs.set(3n, { ...tables.runs.get(3n)!, is_verified: false });
    await runPass(sending({ settle }), stopping.signal);
    assert.equal(looks, 2);
  });

  for (const [failure, reason] of [
    ['too_expensive', 'GasPriceTooHigh'],
    ['no_account', 'NoAccount'],
    ['wrong_tx', 'WrongTx'],
  ] as const)
    it(`is an alarm that needs a person where sending fails because of ${failure}`, async () => {
      const { tables, sending } = still();
      const sendScores = async () => {
        throw new ContractError(failure, 'a person has to judge it');
      };
      const step = await runPass(sending({ sendScores }));
      assert.deepEqual([step.decision.kind, reasonOf(step), exitCodeOf(step)], ['alarm', reason, 1]);
      assert.match(tables.runs.get(3n)?.error ?? '', /a person has to judge it/);
    });

  it('says how a block is forgotten that a receipt has named and the rollup does not have', async () => {
    const { world, tables, machine } = still();
    await runPass({ ...machine, phases: { score: true, finalize: false } });
    const [hash, tx] = [...tables.txs][0]!;
    tables.txs.set(hash, { ...tx, height: 0x7f_ff_ff_ff });
    const step = await runPass(machine);
    assert.equal(reasonOf(step), 'NodeBehind');
    assert.match(messageOf(step), /--forget-height 2147483647\)/);
    tables.txs.set(hash, { ...tx, height: 0 });
    await runPass(machine);
    isRight(world);
  });

  it('does not take an approval of one list for another, which a changed policy gives', async () => {
    const { world, tables, machine } = still({ approval: 'Manual' });
    const { compute } = machine.policy;
    const changed: typeof machine = {
      ...machine,
      policy: {
        text: 'changed',
        hash: 'changed',
        async compute(window) {
          const before = await compute(window);
          const scores = before.list.scores.map((score) => ({ ...score, amount: score.amount * 2n }));
          return { ...before, list: { scores, hash: hashOfScores(scores), total: before.list.total * 2n } };
        },
      },
    };
    assert.equal(reasonOf(await runPass(machine)), 'ApprovalNeeded');
    approve(world, tables);
    const approved = tables.runs.get(3n)?.list_hash;
    assert.equal(reasonOf(await runPass(changed)), 'ApprovalNeeded');
    assert.notEqual(tables.runs.get(3n)?.list_hash, approved);
    assert.deepEqual(world.finalizations, []);
    // The policy as it was gives the list that was approved.
    await runPass(machine);
    isRight(world);
  });

  it('says so where somebody else has finalized other scores', async () => {
    const { world, tables, machine } = still({ approval: 'Manual' });
    assert.equal(reasonOf(await runPass(machine)), 'ApprovalNeeded');
    world.writeAsSomebodyElse(3n, [{ address: `0x${'9'.repeat(40)}`, amount: 5n }]);
    world.finalizeAsSomebodyElse(3n);
    await runPass(machine);
    const run = tables.runs.get(3n);
    assert.deepEqual([run?.is_finalized, run?.is_verified], [true, false]);
    assert.match(
      run?.error ?? '',
      /finalized with other scores than those of the list: strays, count, scores, total/,
    );
  });

  it('sends nothing for a stage of which nobody says when it was, and waits for a person', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed);
      const world = new World(random, random.pick(['ours', 'lenient', 'oldest']), 3n, 5n, {
        ...plainRules,
        allow_empty: [3n, 4n],
      });
      world.saysTimes = false;
      const tables = emptyTables();
      await runSome(world, tables, hard, seed);
      const step = await runPass(processOver(world, tables, easy, random));
      assert.equal(reasonOf(step), 'WindowUnknown');
      assert.match(messageOf(step), /stage 3 .*windows/);
      assert.equal(world.txs.size, 0, `seed ${seed}`);
      // Once it is told, everything goes its way.
      await runPass(processOver(world, tables, { ...easy, moveOneIn: 0 }, random, world.told()));
      assert.deepEqual(world.violations, []);
      assert.deepEqual(world.finalizations.slice(0, 2), [3n, 4n], `seed ${seed}`);
    }
  });

  it('sends nothing at all where the contract is not the one, whatever happens', async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed);
      const isOurs = random.oneIn(2);
      const world = new World(random, random.pick(['ours', 'lenient', 'oldest']), 3n, 5n, plainRules);
      world.registration = isOurs ? { init_stage: 2n, isOurs } : { init_stage: 3n, isOurs };
      const tables = emptyTables();
      for (let turn = 0; turn < 5; turn++) {
        world.pass(300);
        world.nextStage();
        await runSome(world, tables, hard, seed * 10 + turn);
      }
      const step = await runPass(processOver(world, tables, easy, random));
      assert.equal(step.decision.kind, 'alarm');
      assert.equal(world.txs.size, 0, `seed ${seed}`);
    }
  });
});
