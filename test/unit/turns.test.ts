import assert from 'node:assert/strict';
import { createTurns, type Priority, type Turns } from '../../services/common/clickhouse/turns.js';

/** Turns by a clock that goes forward only while somebody has one. */
function world() {
  let time = 0;
  const turns = createTurns(() => time);
  const log: Priority[] = [];
  const spent: Record<Priority, number> = { read: 0, write: 0, background: 0 };
  const use = (priority: Priority, takes: number): Promise<void> =>
    turns.take({ priority }, async () => {
      log.push(priority);
      time += takes;
      spent[priority] += takes;
    });
  /** Somebody who asks again as soon as it was served, until an end. */
  const ask = async (priority: Priority, takes: number, until: number): Promise<void> => {
    while (time < until) await use(priority, takes);
  };
  return { turns, log, spent, use, ask, now: () => time };
}

const many = (count: number, work: () => Promise<void>): Promise<void>[] =>
  Array.from({ length: count }, work);

describe('turns at the engine', () => {
  it('give writes and rebuilds their share of the time under reads without end', async () => {
    const { spent, ask } = world();
    // Writers ask one statement at a time, most of them as short as reads.
    await Promise.all([
      ...many(32, () => ask('read', 5, 70_000)),
      ask('write', 2, 70_000),
      ask('background', 2, 70_000),
    ]);
    assert.ok(Math.abs(spent.read - 40_000) < 400, `reads ${spent.read}`);
    assert.ok(Math.abs(spent.write - 20_000) < 400, `writes ${spent.write}`);
    assert.ok(Math.abs(spent.background - 10_000) < 400, `background ${spent.background}`);
  });

  it('give reads their share under long writes without end', async () => {
    const { spent, ask } = world();
    await Promise.all([
      ...many(4, () => ask('read', 5, 60_000)),
      ...many(8, () => ask('write', 80, 60_000)),
      ...many(8, () => ask('background', 200, 60_000)),
    ]);
    assert.ok(spent.read > 30_000, `reads ${spent.read}`);
  });

  it('leave to others what one does not want', async () => {
    const { spent, ask } = world();
    await Promise.all([
      ...many(2, () => ask('write', 10, 30_000)),
      ...many(2, () => ask('background', 10, 30_000)),
    ]);
    assert.ok(Math.abs(spent.write - 20_000) < 50, `writes ${spent.write}`);
    await ask('background', 10, 40_000);
    assert.ok(spent.background >= 19_950, `background ${spent.background}`);
  });

  it('serve a read next that comes now and then, whatever waits', async () => {
    const { turns, log, use, ask, now } = world();
    const backlog = [...many(20, () => use('write', 50)), ...many(20, () => use('background', 50))];
    for (let round = 0; round < 10; round++) {
      const before = log.length;
      await use('read', 1);
      assert.ok(log.length - before <= 2, `${log.length - before} went before a read`);
    }
    await Promise.all(backlog);
    // Nor does who was away for long hold up the others afterwards.
    await ask('write', 10, now() + 100_000);
    const before = log.length;
    await Promise.all([...many(100, () => use('read', 10)), ...many(10, () => use('write', 10))]);
    const firstWrites = log.slice(before, before + 12).filter((priority) => priority === 'write').length;
    assert.ok(firstWrites >= 3, `${firstWrites} writes among the first 12`);
    await turns.idle();
  });

  it('go on after work that fails, and are idle only when nobody waits', async () => {
    const turns: Turns = createTurns();
    const failing = turns.take({ priority: 'read' }, async () => {
      throw new Error('no');
    });
    const done: string[] = [];
    const second = turns.take({ priority: 'write' }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      done.push('second');
    });
    const idle = turns.idle().then(() => done.push('idle'));
    await assert.rejects(failing, /no/);
    await Promise.all([second, idle]);
    assert.deepEqual(done, ['second', 'idle']);
    await turns.idle();
  });

  it('are given to clients by turns, and the calls of one in the order they began', async () => {
    let time = 0;
    const turns = createTurns(() => time);
    const log: string[] = [];
    const use = (client: string, deadline: number) =>
      turns.take({ client, deadline }, async () => {
        log.push(`${client}${deadline}`);
        time += 10;
      });
    const greedy = [5, 3, 4, 2, 1].map((deadline) => use('g', deadline));
    const other = [use('o', 9), use('o', 8)];
    await Promise.all([...greedy, ...other]);
    // The first of all began at once.
    assert.deepEqual(log, ['g5', 'o8', 'g1', 'o9', 'g2', 'g3', 'g4']);
  });

  it('do not hold against a client what it used while nobody waited', async () => {
    let time = 0;
    const turns = createTurns(() => time);
    const log: string[] = [];
    const use = (client: string, takes: number) =>
      turns.take({ client }, async () => {
        log.push(client);
        time += takes;
      });
    for (let n = 0; n < 50; n++) await use('busy', 10);
    log.length = 0;
    await Promise.all(['new', 'new', 'new', 'busy', 'new'].map((client) => use(client, 10)));
    assert.ok(log.indexOf('busy') <= 2, log.join());
  });

  it('are not given to a caller who has left', async () => {
    const turns = createTurns();
    let isWanted = true;
    let began = 0;
    let end = (): void => {};
    const first = turns.take({}, () => new Promise<void>((resolve) => (end = resolve)));
    const left = turns.take({ isWanted: () => isWanted }, async () => {
      began += 1;
    });
    const last = turns.take({ isWanted: () => true }, async () => 'served');
    isWanted = false;
    end();
    await first;
    await assert.rejects(left, { code: 1 });
    assert.equal(await last, 'served');
    assert.equal(began, 0);
    await turns.idle();
  });

  it('are several at a time where the engine takes several', async () => {
    const turns = createTurns(undefined, 3);
    let [running, most] = [0, 0];
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await Promise.all(many(20, () => turns.take({}, work)));
    assert.equal(most, 3);
  });
});
