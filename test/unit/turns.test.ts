import assert from 'node:assert/strict';
import { createTurns, type Turns } from '../../services/common/clickhouse/turns.js';

const many = (count: number, work: () => Promise<void>): Promise<void>[] =>
  Array.from({ length: count }, work);

describe('turns at the engine', () => {
  it('go on after work that fails, and are idle only when nobody waits', async () => {
    const turns: Turns = createTurns(1);
    const failing = turns.take({}, async () => {
      throw new Error('no');
    });
    const done: string[] = [];
    const second = turns.take({}, async () => {
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
    const turns = createTurns(1, () => time);
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
    const turns = createTurns(1, () => time);
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
    const turns = createTurns(1);
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
    const turns = createTurns(3);
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
