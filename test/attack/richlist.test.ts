import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mock } from 'node:test';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Endpoints, NodeError } from '../../services/common/chain/endpoints.js';
import type { Database } from '../../services/common/clickhouse/database.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { WriterHealth } from '../../services/common/writer/health.js';
import type { RichlistConfig } from '../../services/richlist/config.js';
import { createEarlierHeals } from '../../services/richlist/ingest/earlier.js';
import { reconcile } from '../../services/richlist/ingest/reconcile.js';
import { writerOptions } from '../../services/richlist/ingest/writer.js';
import { type BalanceAnswer, createBalances } from '../../services/richlist/node/erc20.js';
import type { WriterOptions } from '../../services/richlist/tables.js';
import { block, coinsOfEach, hex, type LargeWork, seedOfAccounts } from '../support/attack/large-richlist.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';
import { openTestRichlist, type TestRichlist } from '../support/richlist-tables.js';
import { differencesOf } from '../support/views.js';

const log = createLog('silent');
const run = promisify(execFile);
const largeRichlist = fileURLToPath(new URL('../support/attack/large-richlist.js', import.meta.url));

async function open(
  options: Partial<WriterOptions> = {},
  database?: Database,
  prefix = uniquePrefix(),
): Promise<TestRichlist> {
  const opened = await openTestRichlist(database ?? (await testDatabase()), prefix, options);
  await opened.store.recover();
  return opened;
}

/** What fails in the background fails the test. */
const health: WriterHealth = {
  succeeded() {},
  failed: (_, error) => assert.fail(String(error)),
  reason: () => '',
};

/** Does one of the works of `large-richlist` in another process: the memory that it takes at its peak, in MiB, and its changes. */
async function work(name: LargeWork): Promise<{ taken_mb: number; last_ord: number }> {
  const { stdout } = await run(process.execPath, [largeRichlist, name]);
  return JSON.parse(stdout) as { taken_mb: number; last_ord: number };
}

describe('a block that changes the balances of 420,000 accounts', () => {
  it('is written in the memory of a few statements', async () => {
    const { taken_mb, last_ord } = await work('block');
    assert.ok(taken_mb < 510, `${Math.round(taken_mb)} MiB`);
    assert.equal(last_ord, 420_000);
  });
});

describe('the state to begin with, of accounts that hold a thousand denoms each', () => {
  it('is given some thousands of balances at a time, each of them once', async () => {
    const seed = await seedOfAccounts(50)(1);
    const found = new Set<string>();
    let count = 0;
    for await (const balances of seed.balances()) {
      assert.ok(balances.length <= 15_000, `${balances.length} balances`);
      count += balances.length;
      for (const { token, account } of balances) found.add(token + account);
    }
    assert.deepEqual([count, found.size], [50 * coinsOfEach, 50 * coinsOfEach]);
  });

  it('is written in the memory of a few statements', async () => {
    const { taken_mb, last_ord } = await work('seed');
    assert.ok(taken_mb < 500, `${Math.round(taken_mb)} MiB`);
    assert.equal(last_ord, 400 * coinsOfEach);
  });

  it('is written in statements of bounded size, also where it comes in one piece', async () => {
    const count = 100_000;
    const balances = Array.from({ length: count }, (_, n) => {
      return { token: hex(n % 10, 'a'), account: hex(n), amount: 1n, denom: undefined };
    });
    const database = await testDatabase();
    let most = 0;
    const counting: Database = {
      ...database,
      insert(table, data, ...others) {
        if (typeof data === 'string') most = Math.max(most, data.split('\n').length);
        return database.insert(table, data, ...others);
      },
    };
    const openWhole: WriterOptions['openSeed'] = async (height) => ({
      height,
      async *balances() {
        yield balances;
      },
    });
    const { store } = await open({ openSeed: openWhole }, counting);
    await store.writeBlocks([block(1, {})]);
    assert.ok(most <= 20_000, `${most} rows in a statement`);
    assert.deepEqual(await differencesOf(store.compareViews()), []);
  });
});

/** A JSON-RPC node whose every balance is 33, and takes so many milliseconds; it gives up after two seconds. */
const slowNode = (ofBalance_ms: (token: string) => number): Endpoints => {
  const pause = (ms: number, signal: AbortSignal | undefined): Promise<boolean> =>
    setTimeout(ms, true, { signal }).catch(() => false);
  return {
    ...fakeEndpoints('jsonrpc', () => [200, '']),
    async ask({ body = '', signal, onAnswer }, read) {
      const asked = JSON.parse(body) as { id: number; params: { to: string }[] }[];
      if (!Array.isArray(asked)) return read(200, '{"jsonrpc":"2.0","id":1,"result":"0x3"}');
      const ms = asked.reduce((sum, { params }) => sum + ofBalance_ms(params[0]?.to.slice(2) ?? ''), 1);
      if (!(await pause(Math.min(ms, 2_000), signal))) throw new NodeError('connection', 'given up');
      if (ms > 2_000) throw new NodeError('timeout', 'no answer in time');
      onAnswer?.(ms);
      return read(
        200,
        JSON.stringify(asked.map(({ id }) => ({ id, result: `0x${hex(33).padStart(64, '0')}` }))),
      );
    },
  };
};

describe('tokens whose balances take long', () => {
  it('hold up a batch of blocks once, however many they are', async () => {
    const jsonRpc = slowNode(() => 100);
    const { signal } = new AbortController();
    const options = { jsonRpc, most: 200, log, signal, patience_ms: 400, wait_ms: 1_500 };
    const balances = createBalances(options);
    const questions = Array.from({ length: 4_000 }, (_, n) => {
      return { token: hex(n % 120, 'b'), account: hex(n), height: 2 };
    });
    const began = performance.now();
    const answers = await balances.ask(questions);
    const took_ms = performance.now() - began;
    assert.ok(took_ms < 6_000, `${Math.round(took_ms)} ms`);
    assert.deepEqual(new Set(answers), new Set([33n, 'unanswered']));
    // What burnt the time rests, and the next blocks do not begin with it.
    assert.ok(questions.some(({ token }) => balances.isGivenUp(token)));
  });

  it('hold up the writer for half a minute', async () => {
    const jsonRpc: Endpoints = {
      ...fakeEndpoints('jsonrpc', () => [200, '']),
      ask: ({ body = '', signal }, read) => {
        if (!body.startsWith('['))
          return Promise.resolve(read(200, '{"jsonrpc":"2.0","id":1,"result":"0x3"}'));
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(new NodeError('connection', 'given up')));
        });
      },
    };
    const { askBalances } = writerOptions({
      config: { ACCOUNT_ADDRESS_PREFIX: 'init', SEED_CONCURRENCY: 4, BALANCE_BATCH: 200 } as RichlistConfig,
      ...{ rest: jsonRpc, jsonRpc, log, metrics: createMetrics(), signal: new AbortController().signal },
      ...{ earlier: () => undefined, onSeeding: () => {} },
    });
    const questions = Array.from({ length: 1_000 }, (_, n) => {
      return { token: hex(n, 'b'), account: hex(n), height: 2 };
    });
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let answers: readonly BalanceAnswer[] | undefined;
      const asking = askBalances(questions).then((given) => {
        answers = given;
      });
      for (let second = 0; second < 30; second++) {
        assert.ok(answers === undefined, `after ${second} s`);
        mock.timers.tick(1_000);
        await nextTurn();
      }
      await asking;
      assert.deepEqual(answers, Array(questions.length).fill('unanswered'));
    } finally {
      mock.timers.reset();
    }
  });

  it('are right as soon as they are compared', async () => {
    const jsonRpc = slowNode(() => 50);
    const stopping = new AbortController();
    const { signal } = stopping;
    const metrics = createMetrics();
    const balances = createBalances({ jsonRpc, most: 200, log, signal, patience_ms: 100, wait_ms: 200 });
    const { store, index } = await open({
      openSeed: async (height) => ({ height: height + 1, async *balances() {} }),
      askBalances: (questions) => balances.ask(questions),
    });
    const tokens = Array.from({ length: 20 }, (_, n) => hex(n, 'b'));
    await store.writeBlocks([block(1, {}), block(2, {})]);
    await store.writeBlocks([block(3, Object.fromEntries(tokens.map((token) => [token, [hex(1)]])))]);
    const { database, tables } = index.reader;
    const read = async (): Promise<string[]> =>
      (
        await database.rows<{ balance: string }>(
          `SELECT DISTINCT toString(b.amount) AS balance FROM ${tables.of('account_balances')} AS b FINAL`,
          {},
          { name: 'test' },
        )
      ).map(({ balance }) => balance);
    assert.ok((await read()).includes('10'), 'what nobody waited for');
    let rounds = 0;
    await reconcile({
      config: { RECONCILE_INTERVAL_MS: 5, RECONCILE_DRIFTING_MS: 60_000, BALANCE_BATCH: 200 },
      ...{ store, database, tables, jsonRpc, log, metrics, signal },
      nameTokens: async () => new Map(),
      headHeight: async () => {
        rounds += 1;
        if (rounds === 3) stopping.abort();
        return 3;
      },
      health,
    });
    assert.deepEqual(await read(), ['33']);
  });
});

describe('rounds of comparing, where there are many tokens', () => {
  /** A node that does not tell balances. */
  const jsonRpc = fakeEndpoints('jsonrpc', ({ body = '' }) => {
    const asked = JSON.parse(body) as unknown;
    const answer = { jsonrpc: '2.0', id: 1, result: '0x9' };
    return [200, Array.isArray(asked) ? asked.map((_, id) => ({ ...answer, id, result: '0x' })) : answer];
  });

  /** A database that tells which statements it was given, and how many rows the longest answer had. */
  function watched(database: Database) {
    const seen = { names: [] as (string | undefined)[], most: 0 };
    const watching: Database = {
      ...database,
      async rows<T>(...statement: Parameters<Database['rows']>): Promise<T[]> {
        seen.names.push(statement[2]?.name);
        const rows = await database.rows<T>(...statement);
        seen.most = Math.max(seen.most, rows.length);
        return rows;
      },
    };
    return { watching, seen };
  }

  const denomsOf = (tokens: readonly string[]): ReadonlyMap<string, string> =>
    new Map(tokens.map((token) => [token, `evm/${token}`]));

  it('look for names of tokens that came since the last one had its name, also after a rollback and a start', async () => {
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    const [a, b, c, d, e, f] = Array.from({ length: 6 }, (_, n) => hex(n, 'd')) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    let isTold = false;
    const options = { nameTokens: async () => new Map<string, string>() };

    /** Makes a round after each of these steps. @returns what each round asked names of. */
    const rounds = async (
      { store, index }: TestRichlist,
      steps: readonly (() => Promise<unknown>)[],
      seen: { names: (string | undefined)[] },
      watching: Database,
    ): Promise<{ asked: string[]; looked: boolean }[]> => {
      const made: { asked: string[]; looked: boolean }[] = [];
      const stopping = new AbortController();
      await reconcile({
        config: { RECONCILE_INTERVAL_MS: 5, RECONCILE_DRIFTING_MS: 60_000, BALANCE_BATCH: 200 },
        ...{ store, database: watching, tables: index.tables, jsonRpc, log, metrics: createMetrics() },
        signal: stopping.signal,
        nameTokens: async (tokens) => {
          // There is one more round after the last step.
          if (!stopping.signal.aborted) made.at(-1)?.asked.push(...tokens);
          return denomsOf(isTold ? tokens : []);
        },
        headHeight: async () => {
          const last = made.at(-1);
          if (last !== undefined) last.looked = seen.names.includes('richlist.nameless');
          if (made.length === steps.length) stopping.abort();
          else {
            await steps[made.length]?.();
            seen.names = [];
            made.push({ asked: [], looked: false });
          }
          return store.position.height;
        },
        health,
      });
      return made.map(({ asked, looked }) => ({ asked: asked.sort(), looked }));
    };

    const { watching, seen } = watched(database);
    const first = await open(options, database, prefix);
    const { store } = first;
    await store.writeBlocks([block(1, { [a]: [hex(1)], [b]: [hex(1)] })]);
    const made = await rounds(
      first,
      [
        async () => {},
        async () => {
          isTold = true;
        },
        async () => {},
        async () => {},
        // Known tokens again, then a new one.
        () => store.writeBlocks([block(2, { [a]: [hex(2)], [b]: [hex(3)] })]),
        () => store.writeBlocks([block(3, { [a]: [hex(1)], [c]: [hex(1)] })]),
        async () => {},
        // The number of what was named a moment ago is now another token's.
        async () => {
          await store.unwind(2);
          await store.writeBlocks([block(3, { [a]: [hex(1)], [d]: [hex(1)] })]);
          await store.writeBlocks([block(4, { [a]: [hex(1)], [b]: [hex(1)] })]);
        },
        async () => {},
        async () => {},
        async () => {
          isTold = false;
          await store.writeBlocks([block(5, { [e]: [hex(1)] })]);
        },
      ],
      seen,
      watching,
    );
    assert.deepEqual(
      made.map(({ asked }) => asked),
      [[a, b], [a, b], [], [], [], [c], [], [d], [], [], [e]],
    );
    assert.deepEqual(
      made.map(({ looked }) => looked),
      [true, true, true, false, false, true, true, true, true, false, true],
    );
    const again = watched(database);
    isTold = true;
    const second = await open(options, database, prefix);
    const after = await rounds(
      second,
      [
        async () => {},
        async () => {},
        async () => {},
        () => second.store.writeBlocks([block(6, { [f]: [hex(1)] })]),
      ],
      again.seen,
      again.watching,
    );
    assert.deepEqual(after, [
      { asked: [e], looked: true },
      { asked: [], looked: true },
      { asked: [], looked: false },
      { asked: [f], looked: true },
    ]);
  });

  it('read the tokens that drift a page at a time', async () => {
    const count = 5_000;
    const { watching, seen } = watched(await testDatabase());
    const { store, index } = await open({}, watching);
    await store.writeBlocks([block(1, {})]);
    const { tables, database } = index.reader;
    await database.command(
      `INSERT INTO ${tables.of('changes')} (token, account, ord, height, amount, source)
       SELECT leftPad(hex(number), 40, '0'), leftPad('1', 40, '0'), number, 1, 1, 'heal' FROM numbers(${count})`,
      {},
      { name: 'fill' },
    );
    const metrics = createMetrics();
    const stopping = new AbortController();
    const found = async (): Promise<number> => (await metrics.driftingTokens.get()).values[0]?.value ?? 0;
    await reconcile({
      config: { RECONCILE_INTERVAL_MS: 5, RECONCILE_DRIFTING_MS: 100, BALANCE_BATCH: 200 },
      ...{ store, database, tables, jsonRpc, log, metrics, signal: stopping.signal },
      nameTokens: async () => new Map(),
      headHeight: async () => {
        if ((await found()) > 0) stopping.abort();
        return 1;
      },
      health,
    });
    assert.equal(await found(), count);
    assert.ok(seen.most <= 2_000, `${seen.most} rows`);
  });
});

describe('tables that are rebuilt, where those in use have many corrections', () => {
  it('take over a bounded number of them at a time, and all of them', async () => {
    const [heights, atEach] = [20, 3_000];
    const blocks = Array.from({ length: heights }, (_, n) => block(n + 1, {}));
    const { store, index } = await open();
    await store.writeBlocks(blocks);
    const { tables, database } = index.reader;
    await database.command(
      `INSERT INTO ${tables.of('changes')} (token, account, ord, height, amount, source)
       SELECT repeat('a', 40), leftPad(hex(number), 40, '0'), number + 1, intDiv(number, ${atEach}) + 1, 7, 'heal'
       FROM numbers(${heights * atEach})`,
      {},
      { name: 'fill' },
    );
    const position = { ...store.position, last_ord: heights * atEach };
    const earlier = { ...index.reader, head: { ...index.head, revision: 1, position } };
    const takeOver = createEarlierHeals(() => earlier);
    const sizes: number[] = [];
    const rebuilt = await open({
      earlierHeals: async (left) => {
        const taken = await takeOver(left);
        sizes.push([...taken.heals.values()].reduce((sum, heals) => sum + heals.length, 0));
        return taken;
      },
    });
    await rebuilt.store.writeBlocks(blocks);
    assert.equal(rebuilt.store.position.height, heights);
    assert.equal(rebuilt.store.position.last_ord, heights * atEach);
    assert.ok(Math.max(...sizes) <= 10_000, String(sizes));
    assert.deepEqual(await differencesOf(rebuilt.store.compareViews()), []);
  });
});
