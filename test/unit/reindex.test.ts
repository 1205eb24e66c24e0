import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { Target } from '../../services/common/clickhouse/migrate.js';
import { Phase, type Progress } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { isControlTable, targetOf } from '../../services/common/reindex/generations.js';
import { createInUse } from '../../services/common/reindex/in-use.js';
import { createRate, paced } from '../../services/common/reindex/pace.js';
import {
  type GenerationTables,
  isNear,
  type RebuildableService,
} from '../../services/common/reindex/tables.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { createBell } from '../../services/common/util/signal.js';
import type { Fence } from '../../services/common/writer/fence.js';
import { readOrder, reindexCommand } from '../../tools/reindex/cli.js';
import { progressLine } from '../../tools/reindex/show.js';
import { liveLine } from '../../tools/terminal.js';
import { heightsToCheck } from '../../tools/verify/heights.js';
import { readViewsOrder } from '../../tools/verify/views.js';

describe('generations of tables', () => {
  it('have databases of their own, but for the first', () => {
    const base = { database: 'weft_tx', cluster: 'c' };
    assert.deepEqual(targetOf(base, 1), base);
    assert.deepEqual(targetOf(base, 12), { database: 'weft_tx_g12', cluster: 'c' });
    for (const name of ['generations', 'generations_local', 'generation_migrations'])
      assert.equal(isControlTable(name), true, name);
    for (const name of ['migrations', 'bodies']) assert.equal(isControlTable(name), false, name);
  });

  it('are near when no track lags by more', () => {
    const tip = (height: number, traces?: number) => {
      const tracks = traces === undefined ? {} : { traces };
      return { height, hash: '', tracks };
    };
    assert.equal(isNear(tip(7, 5), tip(10, 5), 3), true);
    assert.equal(isNear(tip(6, 5), tip(10, 5), 3), false);
    assert.equal(isNear(tip(10, 5), tip(10, 9), 3), false);
    assert.equal(isNear(tip(10), tip(10, 3), 3), true);
    assert.equal(isNear(tip(12, 9), tip(10, 8), 0), true);
  });
});

describe('the pace of a rebuild', () => {
  it('rests as long as a statement took, puts its reads behind those of calls, and can be let go', async () => {
    const priorities: (string | undefined)[] = [];
    const database = {
      rows: async (_: string, __: object, { priority }: { priority?: string }) => {
        priorities.push(priority);
        await sleep(60);
        return [];
      },
    } as unknown as Database;
    const pace = paced(database, 25, new AbortController().signal);
    const run = async (): Promise<number> => {
      const began = performance.now();
      await pace.database.rows('', {}, { name: 'test' });
      return performance.now() - began;
    };
    assert.ok((await run()) > 220, 'a quarter of the time at most');
    pace.setPercent(100);
    // Timers run in the order of their times, however late.
    const late = new Promise((resolve) => setTimeout(resolve, 180, 'late'));
    assert.equal(typeof (await Promise.race([run(), late])), 'number');
    assert.deepEqual(priorities, ['background', undefined]);
  });

  it('counts the wait for a turn as rest', async () => {
    const [wait, runs] = [1_000, 20];
    let isRested = false;
    const database = {
      rows: async (_: string, __: object, { onTurn }: { onTurn?: () => void }) => {
        await sleep(wait);
        onTurn?.();
        await sleep(runs);
        setImmediate(() => {
          isRested = true;
        });
        return [];
      },
    } as unknown as Database;
    const pace = paced(database, 25, new AbortController().signal);
    await pace.database.rows('', {}, { name: 'test' });
    // It ran for less than a quarter of the time, and so has rested enough.
    assert.equal(isRested, false);
  });

  it('changes nothing of what is written', async () => {
    const seen: unknown[][] = [];
    const insert = async (...given: unknown[]) => void seen.push(given);
    const database = { insert } as unknown as Parameters<typeof paced>[0];
    const pace = paced(database, 100, new AbortController().signal);
    const rows = Buffer.from('rows');
    await pace.database.insert('t', rows, { name: 'test' });
    assert.deepEqual(seen, [['t', rows, { name: 'test' }]]);
  });

  it('is measured over a window, and anew after a rollback', () => {
    const rate = createRate(10_000);
    assert.equal(rate.perSecond(), 0);
    rate.add(0, 100);
    assert.equal(rate.perSecond(), 0);
    rate.add(2_000, 300);
    assert.equal(rate.perSecond(), 100);
    rate.add(11_000, 1_200);
    assert.equal(rate.perSecond(), 100);
    rate.add(12_000, 50);
    assert.equal(rate.perSecond(), 0);
    rate.add(13_000, 60);
    assert.equal(rate.perSecond(), 10);
  });
});

describe('tables in use', () => {
  const opened = () => {
    const signals = new Map<GenerationTables, AbortSignal>();
    const service = {
      open: ({ signal }: { signal: AbortSignal }) => {
        const head = { revision: 0, reviseAbove: () => {}, bell: createBell() };
        const tables = { head, ingest: async () => {} } as unknown as GenerationTables;
        signals.set(tables, signal);
        return tables;
      },
    } as unknown as RebuildableService<GenerationTables>;
    const fence = { over: (database: unknown) => database } as unknown as Fence;
    const all = new AbortController();
    const target = { database: 'd' } as Target;
    const inUse = createInUse(service, {} as Database, target, fence, all.signal);
    const isEnded = (tables: GenerationTables) => signals.get(tables)?.aborted;
    return { inUse, isEnded, target, all };
  };

  it('end everything of those before when they are replaced, by a rebuild or as another process says', () => {
    const { inUse, isEnded, target, all } = opened();
    inUse.ingest();
    const first = inUse.current();
    const second = inUse.start(target, 50, all.signal);
    assert.deepEqual([isEnded(first), isEnded(second.tables)], [false, false]);
    inUse.swap(second);
    assert.deepEqual([isEnded(first), isEnded(second.tables)], [true, false]);
    const third = inUse.open(target);
    inUse.show(third);
    assert.deepEqual([isEnded(second.tables), isEnded(third)], [true, false]);
    inUse.show(third);
    assert.equal(isEnded(third), false);
    all.abort();
    assert.equal(isEnded(third), true);
  });
});

describe('weft reindex', () => {
  const progress = (given: Partial<Progress>): Progress => ({
    phase: Phase.BUILDING,
    height: 0,
    target_height: 0,
    blocks_per_second: 0,
    ...given,
  });

  it('shows a bar', () => {
    const dots = (n: number): string => '.'.repeat(n);
    assert.equal(
      progressLine(progress({ height: 5_000, target_height: 20_000, blocks_per_second: 250 })),
      `[#######${dots(23)}]  25 %  block 5,000 of 20,000, 250 blocks/s, 1m 00s left`,
    );
    assert.match(progressLine(progress({ height: 30, target_height: 20 })), /^\[#{30}\] 100 %/);
    assert.match(progressLine(progress({ phase: Phase.COPYING })), /0 % {2}making the tables$/);
  });

  it('writes over its line on a terminal, and prints a line now and then elsewhere', () => {
    const shown = (isTTY: boolean): string => {
      let [printed, now] = ['', 0];
      const write = (text: string): void => {
        printed += text;
      };
      const line = liveLine({ isTTY, write }, () => now);
      for (const text of ['a', 'b', 'c']) {
        line.show(text);
        now += 3_000;
      }
      line.end('done');
      return printed;
    };
    assert.equal(shown(true), '\r\x1b[Ka\r\x1b[Kb\r\x1b[Kc\r\x1b[Kdone\n');
    assert.equal(shown(false), 'a\nc\ndone\n');
  });

  it('reads its arguments, and says which is wrong', () => {
    assert.deepEqual(readOrder(['tx'], {}), {
      service: 'tx',
      address: '127.0.0.1:7002',
      starts: true,
      watch: false,
      cancel: false,
    });
    assert.equal(readOrder(['tx', '--watch'], { TX_GRPC_PORT: '7' })?.address, '127.0.0.1:7');
    assert.equal(readOrder(['tx', '--cancel', '--address', 'a:1'], {})?.address, 'a:1');
    assert.equal(readOrder(['--help'], {}), undefined);
    for (const [args, words] of [
      [[], /name one service/],
      [['tx', 'tx'], /name one service/],
      [['block'], /no service "block"/],
      [['toString'], /no service "toString"/],
      [['tx', '--from', '7'], /always rebuilt from its first block/],
    ] as const)
      assert.throws(
        () => readOrder([...args], {}),
        (error) => error instanceof UserError && words.test(error.message),
        args.join(' '),
      );
  });

  it('ends with 75 where no service answers', async () => {
    const printed: string[] = [];
    const screen = { write: (text: string) => printed.push(text) };
    assert.equal(await reindexCommand(['tx', '--watch', '--address', '127.0.0.1:9'], {}, screen), 75);
    assert.match(printed.join(''), /^127\.0\.0\.1:9: /);
  });
});

describe('weft verify --views', () => {
  it('is about all services of this machine, or those that are named', () => {
    assert.deepEqual(
      readViewsOrder([], undefined, { TX_GRPC_PORT: '7' }).map(({ address }) => address),
      ['127.0.0.1:7', '127.0.0.1:7003', '127.0.0.1:7004'],
    );
    assert.deepEqual(readViewsOrder(['nft'], 'a:1', {}), [{ service: 'nft', address: 'a:1' }]);
    for (const [names, address, words] of [
      [['block'], undefined, /no service "block" with views: it is one of tx, nft, richlist/],
      [[], 'a:1', /--address is of one service/],
    ] as const)
      assert.throws(() => readViewsOrder(names, address, {}), words);
  });
});

describe('the heights that weft verify looks at', () => {
  it('are all of a range, or some that are spread over it', () => {
    assert.deepEqual(heightsToCheck(5, 8, undefined), [5, 6, 7, 8]);
    assert.deepEqual(heightsToCheck(5, 8, 4), [5, 6, 7, 8]);
    assert.deepEqual(heightsToCheck(5, 8, 1), [8]);
    assert.deepEqual(heightsToCheck(9, 8, 3), []);
    assert.deepEqual(heightsToCheck(1, 1_000, 2), [1, 1_000]);
    for (const sample of [3, 7, 100, 998, 999]) {
      const heights = heightsToCheck(1, 1_000, sample);
      assert.equal(heights.length, sample);
      assert.deepEqual([heights[0], heights.at(-1)], [1, 1_000]);
      assert.ok(heights.every((height, index) => index === 0 || height > (heights[index - 1] as number)));
    }
  });
});
