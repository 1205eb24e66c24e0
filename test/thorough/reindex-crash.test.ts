import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from '../support/block.js';
import { temporaryFolder } from '../support/folder.js';
import { startBefore } from '../support/suite.js';

const childPath = fileURLToPath(new URL('../support/indexer-child.js', import.meta.url));

describe('a process that is killed with SIGKILL while it rebuilds', function () {
  this.timeout(600_000);
  const folder = temporaryFolder('reindex-crash');
  const children: ChildProcess[] = [];
  const node = startBefore(
    () => startReplayNode({ recording: 'evm', tip: 30 }),
    ({ close }) => close(),
  );
  after(() => {
    for (const child of children) child.kill('SIGKILL');
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

  async function start(data: string, crashAt = '', log = '', service = 'tx'): Promise<Run> {
    const child = fork(childPath, [], {
      env: {
        PATH: process.env['PATH'],
        WEFT_ROOT: packageRoot,
        ...nodeEnvironment(node, 'evm'),
        DATA_DIR: join(folder, data),
        REINDEX_KEEP_MS: '0',
        REINDEX_PERCENT: '100',
        CRASH_AT: crashAt,
        SERVICES: service,
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
        // It may die before it hears this; its end is the answer then.
        child.send({ id, order, argument }, () => {});
        return (await answer) as T | undefined;
      },
      async stop() {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        assert.deepEqual(await exited, [0, null]);
      },
    };
  }

  /** Waits until a generation is the only one that has tables. */
  const isAlone = (run: Run, generation: number): Promise<void> =>
    eventually(
      async () => {
        const found = await run.ask<string[]>('generations');
        return found?.length === 1 && found[0]?.endsWith(`_g${generation}`) === true;
      },
      `generation ${generation} alone`,
      90_000,
    );

  /** Waits until the process is killed; what it was killed at may be the last thing that it had to do. */
  const isKilled = (run: Run, place: string): Promise<void> =>
    eventually(async () => isDead(run.child), `the kill at ${place}`, 90_000);

  /** The points that a rebuild passes, in order; some of them in the middle of what is done there. */
  const places = [
    'reindex begun',
    'reindex tables made',
    'reindex prepared',
    'write bodies',
    'write list_ends',
    'write blocks',
    'write head',
    'reindex swap',
    'reindex swapped',
    'reindex drop table',
    'reindex drop table#3',
    'reindex drop database',
  ];

  it('goes on with the step it was in, killed at one after the other, and ends with the same rows', async () => {
    const log = join(folder, 'points.log');
    const first = await start('data', '', log);
    const reaches = (height: number): Promise<void> =>
      eventually(
        async () => (await first.ask<{ height: number }[][]>('contents', 1))?.[1]?.at(-1)?.height === height,
        `height ${height}`,
        90_000,
      );
    await reaches(30);
    node.setTip(90);
    await reaches(90);
    const before = await first.ask<unknown[][]>('contents', 1);
    await first.ask('rebuild', 0);
    await isAlone(first, 2);
    assert.deepEqual(await first.ask('contents', 2), before);
    await first.stop();
    const passed = new Set(readFileSync(log, 'utf8').trim().split('\n'));
    for (const point of passed)
      assert.ok(!point.startsWith('reindex') || places.includes(point), `nobody is killed at ${point}`);

    for (const [index, place] of places.entries()) {
      const run = await start('data', place);
      if (index === 0) void run.ask('rebuild', 0);
      await isKilled(run, place);
    }
    const last = await start('data');
    await isAlone(last, 3);
    assert.deepEqual(await last.ask('contents', 3), before);
    await last.stop();
  });

  /** Where tables whose views change are made and written. */
  const nftPlaces = [
    'nft reindex prepared',
    'nft write history',
    'nft write token_counts',
    'nft write token_uris',
    'nft reindex swap',
    'nft reindex swapped',
  ];

  it('does so too with tables for which the node is asked', async () => {
    node.setTip(90);
    const first = await start('nft', '', '', 'nft');
    const before = await (async () => {
      let rows: unknown[][] | undefined;
      await eventually(
        async () => {
          const found = await first.ask<unknown[][]>('contents', 1);
          const isStill = JSON.stringify(found) === JSON.stringify(rows);
          rows = found;
          await new Promise((resolve) => setTimeout(resolve, 300));
          return isStill && (found?.[0]?.at(-1) as { height: number } | undefined)?.height === 90;
        },
        'the NFTs of 90 blocks',
        60_000,
      );
      return rows;
    })();
    await first.stop();
    for (const [index, place] of nftPlaces.entries()) {
      const run = await start('nft', place, '', 'nft');
      if (index === 0) void run.ask('rebuild', 0);
      await isKilled(run, place);
    }
    const last = await start('nft', '', '', 'nft');
    await isAlone(last, 2);
    assert.deepEqual(await last.ask('contents', 2), before);
    await last.stop();
  });
});
