import assert from 'node:assert/strict';
import { type Database, DatabaseUnavailable } from '../../services/common/clickhouse/database.js';
import { openServer } from '../../services/common/clickhouse/server.js';
import { createLog } from '../../services/common/runtime/log.js';
import {
  createFence,
  type Fence,
  type FenceOptions,
  Superseded,
} from '../../services/common/writer/fence.js';
import { prepareWriters, readEpoch, readWriters } from '../../services/common/writer/writers.js';
import { eventually } from '../support/block.js';
import { type ClickHouseServer, serveClickHouse } from '../support/clickhouse-server.js';
import { execute, query, testDatabase, uniquePrefix } from '../support/database.js';
import { createGate } from '../support/gate.js';

const lease_ms = 1_000;
const never = new AbortController().signal;
const options = { name: 'test' };

describe('the fence of writers', () => {
  let embedded: Database;
  let server: ClickHouseServer;
  /** Connections of their own, as processes have them. */
  const connections: Database[] = [];
  let name: string;
  let table: string;

  before(async () => {
    embedded = await testDatabase();
    server = await serveClickHouse(embedded);
  });
  after(async () => {
    for (const connection of connections) await connection.close();
    await server.close();
  });
  beforeEach(async () => {
    name = `${uniquePrefix()}_fenced`;
    table = `${name}.facts`;
    await prepareWriters(embedded, { database: name, cluster: '' }, 'apply');
    await execute(
      `CREATE TABLE ${table} (height UInt64, text String, epoch UInt64) ENGINE = MergeTree ORDER BY height`,
    );
  });

  interface Writer {
    readonly fence: Fence;
    readonly write: (height: number, text?: string) => Promise<void>;
    readonly confirm: () => Promise<void>;
    readonly fill: (select: string) => Promise<void>;
    readonly removeAbove: (height: number) => Promise<void>;
    readonly lost: () => number;
  }

  /** Carries out a statement of a writer, or does something else. */
  type Pass = (send: () => Promise<void>) => Promise<void>;

  /**
   * A writer with a connection of its own.
   *
   * @param pass stands before each statement that changes rows.
   * @param passWriters stands before each insert into the table of writers.
   */
  function writer(
    extra: Partial<Pick<FenceOptions, 'scope' | 'lease_ms' | 'rowEpoch'>> = {},
    pass: Pass = (send) => send(),
    passWriters: Pass = (send) => send(),
  ): Writer {
    const database = openServer({ url: server.url, username: '', password: '', replicated: false });
    connections.push(database);
    let lost = 0;
    const fence = createFence({
      database: { ...database, insert: (...args) => passWriters(() => database.insert(...args)) },
      ...{ target: { database: name, cluster: '' }, scope: '', lease_ms, what: 'the facts' },
      log: createLog('silent'),
      onSuperseded: () => {
        lost += 1;
      },
      ...extra,
    });
    const fenced = fence.over({
      ...database,
      command: (...args) => pass(() => database.command(...args)),
      insert: (...args) => pass(() => database.insert(...args)),
    });
    return {
      fence,
      write: (height, text = '') => fenced.insert(table, JSON.stringify({ height, text }), options),
      confirm: () => fenced.confirm(),
      fill: (select) => fenced.insertSelect(table, ['height', 'text'], select, {}, options),
      removeAbove: (height) => fenced.remove(table, 'height > {height:UInt64}', { height }, options),
      lost: () => lost,
    };
  }

  const rows = () =>
    query<{ height: number; epoch: number }>(`SELECT height, epoch FROM ${table} ORDER BY height, epoch`);

  const heights = async (): Promise<number[]> => (await rows()).map(({ height }) => height);

  it('lets nobody write before it is acquired', async () => {
    const { fence, write, confirm, removeAbove } = writer();
    for (const act of [() => write(1), confirm, () => removeAbove(0)])
      await assert.rejects(act, /the facts are not being written yet/);
    assert.deepEqual(await rows(), []);
    assert.equal(fence.epoch, 0);
  });

  it('numbers writers, and hands over at once when one has released', async () => {
    for (const epoch of [1, 2, 3]) {
      const { fence, write } = writer({ lease_ms: 20_000 });
      const began = performance.now();
      assert.equal(await fence.acquire(never), true);
      assert.ok(performance.now() - began < 20_000, 'it did not wait for the lease');
      assert.equal(fence.notReadyReason, '');
      await write(epoch);
      await fence.release();
    }
    assert.deepEqual(
      await rows(),
      [1, 2, 3].map((n) => ({ height: n, epoch: n })),
    );
  });

  it('never interrupts a writer that is alive, however long it takes', async () => {
    const [first, second] = [writer(), writer()];
    await first.fence.acquire(never);
    assert.equal(await second.fence.acquire(AbortSignal.timeout(3 * lease_ms)), false);
    assert.match(second.fence.notReadyReason, /writes the facts, or did until a moment ago: waiting/);
    await first.write(1);
    await first.confirm();
    await assert.rejects(second.write(2));
    await first.fence.release();
    assert.equal(await second.fence.acquire(never), true);
    await second.fence.release();
  });

  /** Refuses the signs of life of the first writer from here on, as if it had no processor: what it writes is not refused. */
  const silenceFirst = (): Promise<void> =>
    execute(`ALTER TABLE ${name}.writers ADD CONSTRAINT silent CHECK epoch != 1 OR is_released`);

  /**
   * A writer that gives no sign of life any more, as one that is frozen; and one that has taken over from it.
   *
   * @param begin what the first one begins before, in two rows.
   */
  async function takenOver(
    frozen = writer(),
    begin: () => void = () => {},
  ): Promise<{ frozen: Writer; next: Writer }> {
    const next = writer();
    await frozen.fence.acquire(never);
    await frozen.write(1);
    await frozen.write(2);
    begin();
    await silenceFirst();
    const began = performance.now();
    await next.fence.acquire(never);
    assert.ok(performance.now() - began >= lease_ms, 'it waited for the lease');
    return { frozen, next };
  }

  it('refuses what a writer that was taken over from still writes, and says so', async () => {
    const { frozen, next } = await takenOver();
    await frozen.write(3).catch(() => {});
    assert.deepEqual(await heights(), [1, 2]);
    await assert.rejects(frozen.confirm(), Superseded);
    await assert.rejects(frozen.write(4), Superseded);
    assert.equal(frozen.lost(), 1);
    assert.match(
      frozen.fence.notReadyReason,
      /another process writes the facts by now \(writer 2, this one is 1\)/,
    );
    await next.write(3);
    await next.confirm();
    assert.deepEqual(await rows(), [
      { height: 1, epoch: 1 },
      { height: 2, epoch: 1 },
      { height: 3, epoch: 2 },
    ]);
    await next.fence.release();
  });

  it('lets a removal of an earlier writer take none of the rows of a later one, whenever it runs', async () => {
    const sleep = createGate();
    let isAsleep = false;
    const first = writer({}, async (send) => {
      if (isAsleep) await sleep.opened;
      await send();
    });
    let removal: Promise<void> | undefined;
    const { next } = await takenOver(first, () => {
      isAsleep = true;
      removal = first.removeAbove(1);
    });
    await next.removeAbove(1);
    await next.write(2);
    sleep.open();
    await removal;
    assert.deepEqual(await rows(), [
      { height: 1, epoch: 1 },
      { height: 2, epoch: 2 },
    ]);
    await next.fence.release();
  });

  it('removes nothing when an insert before it was refused: what goes says what is to be made again', async () => {
    const { frozen, next } = await takenOver();
    await frozen.write(3).catch(() => {});
    await assert.rejects(frozen.removeAbove(1), Superseded);
    assert.deepEqual(await heights(), [1, 2]);
    await next.fence.release();
  });

  it('waits for what a silent writer may have begun just before it was replaced', async () => {
    const [frozen, next] = [writer(), writer()];
    await frozen.fence.acquire(never);
    await silenceFirst();
    const acquired = next.fence.acquire(never);
    const target = { database: name, cluster: '' };
    await eventually(async () => (await readEpoch(embedded, target, '')) === 2, 'the next epoch');
    const refusedFrom = performance.now();
    await acquired;
    // Statements that insert are ended after half of the lease; some of it has passed until the epoch was seen.
    assert.ok(performance.now() - refusedFrom >= 0.3 * lease_ms);
    await next.fence.release();
  });

  it('goes by the lease of a writer that has a longer one', async () => {
    const [first, next] = [writer({ lease_ms: 3 * lease_ms }), writer()];
    await first.fence.acquire(never);
    await silenceFirst();
    const began = performance.now();
    assert.equal(await next.fence.acquire(never), true);
    assert.ok(performance.now() - began >= 3 * lease_ms);
    await next.fence.release();
  });

  const unreachable = new DatabaseUnavailable('it does not answer', {
    cause: Object.assign(new Error(), { code: 'ECONNRESET' }),
  });

  it('goes on as the next writer after a statement whose end is not known, when it cannot run any more', async () => {
    const refused = Object.assign(new Error('the table is full'), { code: '243' });
    const gateway = new Error('<html>504 Gateway Time-out</html>');
    for (const [error, isKnown] of [
      [unreachable, false],
      [gateway, false],
      [refused, true],
    ] as const) {
      let failures = 1;
      const one = writer({}, (send) => (failures-- > 0 ? Promise.reject(error) : send()));
      await one.fence.acquire(never);
      const { epoch } = one.fence;
      await assert.rejects(one.removeAbove(0), error);
      const began = performance.now();
      await one.confirm();
      assert.equal(performance.now() - began >= lease_ms / 2, !isKnown, error.message);
      assert.equal(one.fence.epoch, isKnown ? epoch : epoch + 1);
      await one.fence.release();
      // The next one need not wait for the epochs before.
      const next = writer({ lease_ms: 20_000 });
      assert.equal(await next.fence.acquire(AbortSignal.timeout(5_000)), true);
      await next.fence.release();
    }
  });

  it('ends an insert of a query that takes longer than a successor waits', async () => {
    const one = writer();
    await one.fence.acquire(never);
    await one.fill("SELECT 1 AS height, 'soon' AS text");
    const began = performance.now();
    await assert.rejects(
      one.fill(
        "SELECT number + 2 + sleepEachRow(0.05) AS height, 'late' AS text FROM numbers(50) SETTINGS max_block_size = 1",
      ),
      /ran out of time/,
    );
    assert.ok(performance.now() - began < lease_ms);
    await one.fence.release();
    assert.deepEqual(await heights(), [1]);
  });

  it('gives no effect to statements that reach the server after their writer went on', async () => {
    const late: (() => Promise<void>)[] = [];
    let isCut = false;
    const one = writer({}, async (send) => {
      if (!isCut) return send();
      late.push(send);
      throw unreachable;
    });
    await one.fence.acquire(never);
    for (const height of [1, 2]) await one.write(height);
    isCut = true;
    await assert.rejects(one.write(3), unreachable);
    isCut = false;
    await one.confirm();
    isCut = true;
    await assert.rejects(one.removeAbove(1), unreachable);
    isCut = false;
    // As a store does that has failed: it removes what may be there, and writes again.
    await one.removeAbove(1);
    for (const height of [2, 3]) await one.write(height);
    await one.confirm();
    assert.equal(late.length, 2);
    for (const send of late) await send();
    assert.deepEqual(await heights(), [1, 2, 3]);
    assert.equal(one.lost(), 0);
    await one.fence.release();
  });

  it('goes on as the next writer only when its other statements have ended', async () => {
    const sleep = createGate();
    let isFirst = true;
    const one = writer({}, async (send) => {
      if (!isFirst) return send();
      isFirst = false;
      await sleep.opened;
      await send();
    });
    await one.fence.acquire(never);
    const slow = one.write(1);
    const broken = one.fence.over({
      ...embedded,
      isExclusive: false,
      insert: () => Promise.reject(unreachable),
    });
    await assert.rejects(broken.insert(table, '{"height":2}', options), unreachable);
    const confirmed = one.confirm();
    await new Promise((resolve) => setTimeout(resolve, lease_ms / 2));
    sleep.open();
    await slow;
    await confirmed;
    await one.write(3);
    assert.deepEqual(await rows(), [
      { height: 1, epoch: 1 },
      { height: 3, epoch: 2 },
    ]);
    await one.fence.release();
  });

  it('does not take itself for another process when it never learns that it has the next epoch', async () => {
    let [isCut, lost] = [false, 0];
    const one = writer(
      {},
      (send) => (isCut ? Promise.reject(unreachable) : send()),
      async (send) => {
        await send();
        if (isCut && lost++ === 0) throw unreachable;
      },
    );
    await one.fence.acquire(never);
    isCut = true;
    await assert.rejects(one.write(1), unreachable);
    await assert.rejects(one.confirm(), unreachable);
    // Signs of life go on meanwhile, and see it.
    await new Promise((resolve) => setTimeout(resolve, lease_ms / 2));
    isCut = false;
    await one.write(2);
    await one.confirm();
    assert.equal(one.lost(), 0);
    assert.deepEqual(await rows(), [{ height: 2, epoch: one.fence.epoch }]);
    await one.fence.release();
  });

  it('gives up when another process has taken over before it could go on', async () => {
    let isCut = false;
    const one = writer({}, (send) => (isCut ? Promise.reject(unreachable) : send()));
    await one.fence.acquire(never);
    await silenceFirst();
    const next = writer();
    await next.fence.acquire(never);
    isCut = true;
    await assert.rejects(one.write(1), unreachable);
    await assert.rejects(one.confirm(), Superseded);
    assert.equal(one.lost(), 1);
    await next.write(1);
    await next.confirm();
    await next.fence.release();
  });

  it('lets one of many that start at once write, and the next when that one ends', async () => {
    const writers = Array.from({ length: 5 }, () => writer());
    const order: Writer[] = [];
    /** What a supervisor does: who was overtaken starts again, and waits. */
    const run = async (one: Writer): Promise<void> => {
      await one.fence.acquire(never);
      try {
        await one.write(one.fence.epoch);
        await one.confirm();
        order.push(one);
        await one.fence.release();
      } catch (error) {
        if (!(error instanceof Superseded)) throw error;
        await run(writer());
      }
    };
    await Promise.all(writers.map(run));
    assert.equal(order.length, 5);
    const written = await rows();
    // What was written under an epoch that was overtaken before it was confirmed is there as well.
    assert.ok(written.length >= 5);
    assert.ok(written.every(({ height, epoch }) => height === epoch));
  });

  it('is one for each program: two write side by side', async () => {
    const [first, second] = [writer({ scope: '1/0xa' }), writer({ scope: '2/0xb' })];
    await first.fence.acquire(never);
    await second.fence.acquire(never);
    await Promise.all([first.write(1), second.write(2)]);
    await Promise.all([first.confirm(), second.confirm()]);
    assert.equal((await rows()).length, 2);
    await Promise.all([first.fence.release(), second.fence.release()]);
  });

  it('gives a version of weft that knows no fence a lease to end in, once, and counts on from the rows', async () => {
    for (const waits of [true, false]) {
      const { fence } = writer({ rowEpoch: async () => 7 });
      const began = performance.now();
      await fence.acquire(never);
      // Above that of every row: else rows could not be removed.
      assert.equal(fence.epoch, waits ? 8 : 9);
      assert.equal(performance.now() - began >= lease_ms, waits);
      await fence.release();
    }
  });

  it('does not count a writer as alive that has ended without a word, more than once', async () => {
    const first = writer();
    await first.fence.acquire(never);
    await silenceFirst();
    for (const waits of [true, false]) {
      const { fence } = writer();
      const began = performance.now();
      await fence.acquire(never);
      assert.equal(performance.now() - began >= lease_ms, waits);
      await fence.release();
    }
    const all = await readWriters(embedded, { database: name, cluster: '' }, '');
    assert.deepEqual(
      all.map(({ epoch, is_released }) => [epoch, is_released]),
      [1, 2, 3].map((n) => [n, true]),
    );
  });

  it('waits out a database that does not answer', async () => {
    const { fence } = writer();
    await execute(`RENAME TABLE ${name}.writers TO ${name}.away`);
    const acquired = fence.acquire(never);
    await eventually(() => /could not be settled/.test(fence.notReadyReason), 'the reason');
    await execute(`RENAME TABLE ${name}.away TO ${name}.writers`);
    assert.equal(await acquired, true);
    await fence.release();
  });

  it('needs no lease where the engine locks its folder', async () => {
    for (const epoch of [1, 2]) {
      const fence = createFence({
        ...{ database: embedded, target: { database: name, cluster: '' }, scope: '', lease_ms: 600_000 },
        ...{ what: 'the facts', log: createLog('silent'), onSuperseded: assert.fail },
      });
      assert.equal(await fence.acquire(never), true);
      assert.equal(fence.epoch, epoch);
      await fence.over(embedded).insert(table, '{"height":1,"text":""}', options);
    }
    assert.deepEqual(
      (await rows()).map(({ epoch }) => epoch),
      [1, 2],
    );
  });
});
