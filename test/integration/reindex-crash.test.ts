import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../services/common/paths.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from '../support/block.js';

const childPath = fileURLToPath(new URL('../support/reindex-crash-child.js', import.meta.url));

describe('a process that is killed with SIGKILL while it rebuilds', function () {
  this.timeout(400_000);
  const folder = mkdtempSync(join(tmpdir(), 'weft-reindex-crash-'));
  const children: ChildProcess[] = [];
  let node: ReplayNode;
  before(async () => {
    node = await startReplayNode({ recording: 'evm', tip: 30 });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await node.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** An answer to an order, by its number. */
  interface Message {
    readonly id: number;
    readonly answer?: unknown;
    readonly error?: string;
  }

  interface Run {
    readonly child: ChildProcess;
    /** Gives the answer; undefined when the process was killed meanwhile. */
    ask<T>(order: string, argument?: number): Promise<T | undefined>;
    stop(): Promise<void>;
  }

  const isDead = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

  async function start(data: string, crashAt = '', log = ''): Promise<Run> {
    const child = fork(childPath, [], {
      env: {
        PATH: process.env['PATH'],
        WEFT_ROOT: packageRoot,
        ...nodeEnvironment(node, 'evm'),
        DATA_DIR: join(folder, data),
        REINDEX_KEEP_MS: '0',
        REINDEX_PERCENT: '100',
        CRASH_AT: crashAt,
        ...(log === '' ? {} : { CRASH_LOG: log }),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    children.push(child);
    const waiting = new Map<number, (message: Message | undefined) => void>();
    child.on('message', (message: Message) => waiting.get(message.id)?.(message));
    child.on('exit', () => {
      for (const end of waiting.values()) end(undefined);
    });
    const answered = async (id: number): Promise<unknown> => {
      const message = await new Promise<Message | undefined>((resolve) => waiting.set(id, resolve));
      waiting.delete(id);
      if (message === undefined) {
        assert.equal(child.signalCode, 'SIGKILL', `it ended by itself with code ${child.exitCode}`);
        return undefined;
      }
      assert.equal(message.error, undefined);
      return message.answer;
    };
    await answered(0);
    let asked = 0;
    return {
      child,
      async ask<T>(order: string, argument = 0): Promise<T | undefined> {
        if (isDead(child)) return undefined;
        const id = ++asked;
        const answer = answered(id);
        child.send({ id, order, argument });
        return (await answer) as T | undefined;
      },
      async stop() {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await exited, [0, null]);
      },
    };
  }

  /** Waits until the only generation with tables is another one than before; its number, or undefined when killed. */
  async function swapped(run: Run, before: number): Promise<number | undefined> {
    let last: number | undefined;
    await eventually(
      async () => {
        const found = await run.ask<string[]>('generations');
        if (found === undefined) return true;
        const numbers = found.map((name) => Number(/_g(\d+)$/.exec(name)?.[1] ?? 1));
        last = numbers.length === 1 && numbers[0] !== before ? numbers[0] : undefined;
        return last !== undefined;
      },
      'the swap',
      60_000,
    );
    return isDead(run.child) ? undefined : last;
  }

  it('goes on with the step it was in, and ends with the same rows', async () => {
    const log = join(folder, 'points.log');
    const scout = await start('scout', '', log);
    // Blocks in several batches, so that there is something to copy below a height.
    const reaches = (run: Run, height: number) =>
      eventually(
        async () => (await run.ask<{ height: number }[][]>('contents', 1))?.[1]?.at(-1)?.height === height,
        `height ${height}`,
        60_000,
      );
    await reaches(scout, 30);
    node.setTip(90);
    await reaches(scout, 90);
    const before = await scout.ask<unknown[][]>('contents', 1);
    await scout.ask('rebuild', 60);
    assert.equal(await swapped(scout, 1), 2);
    assert.deepEqual(await scout.ask('contents', 2), before);
    await scout.stop();

    const all = readFileSync(log, 'utf8').trim().split('\n');
    const points = [...new Set(all)].filter((point) => point.startsWith('reindex'));
    for (const point of [
      'begun',
      'tables made',
      'copy',
      'copied',
      'prepared',
      'swap',
      'swapped',
      'drop table',
    ])
      assert.ok(points.includes(`reindex ${point}`), `${point}: ${points}`);
    // In the middle of copying, of writing blocks and of removing too.
    const places = [
      ...points,
      'reindex copy#4',
      'write bodies',
      'write blocks',
      'reindex drop table#5',
      'reindex drop database',
    ];

    let generation = 2;
    let kills = 0;
    for (const place of places) {
      const run = await start('scout', place);
      void run.ask('rebuild', 60).catch(() => {});
      let now = await swapped(run, generation);
      if (now === undefined) {
        kills += 1;
        const again = await start('scout');
        now = await eventuallyIdle(again, generation);
        assert.deepEqual(await again.ask('contents', now), before, `after a kill at ${place}`);
        await again.stop();
      } else await run.stop();
      generation = now;
    }
    assert.ok(kills >= places.length - 1, `killed ${kills} times at ${places.length} places`);
  });

  /** Waits until nothing is being built or removed. */
  async function eventuallyIdle(run: Run, before: number): Promise<number> {
    let last = before;
    let since = Date.now();
    await eventually(
      async () => {
        const found = (await run.ask<string[]>('generations')) ?? [];
        const numbers = found.map((name) => Number(/_g(\d+)$/.exec(name)?.[1] ?? 1));
        if (numbers.length !== 1) since = Date.now();
        last = numbers.at(-1) ?? before;
        return Date.now() - since > 500;
      },
      'one generation',
      60_000,
    );
    return last;
  }
});
