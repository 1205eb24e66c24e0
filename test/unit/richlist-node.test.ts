import assert from 'node:assert/strict';
import { json } from 'node:stream/consumers';
import { createEndpoints, type Endpoints, NodeError } from '../../services/common/chain/endpoints.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { RichlistConfig } from '../../services/richlist/config.js';
import { denomOf } from '../../services/richlist/ingest/names.js';
import { writerOptions } from '../../services/richlist/ingest/writer.js';
import { contractInDenom } from '../../services/richlist/node/denoms.js';
import { type Balances, createBalances, readBalances } from '../../services/richlist/node/erc20.js';
import { openSeed } from '../../services/richlist/node/seed.js';
import { addressOf, pagesOf } from '../../services/richlist/node/state.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';
import { serveHttp } from '../support/http-server.js';

const shared = { log: createLog('silent'), metrics: createMetrics() };
const { signal } = new AbortController();
const page = (items: object, next_key = '') => ({ ...items, pagination: { next_key } });
const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
const failsWith = (reason: string) => (error: unknown) =>
  error instanceof NodeError && error.reason === reason;

describe('answers to questions for balances', () => {
  const read = (count: number, answers: unknown) => readBalances(count, 200, JSON.stringify(answers));

  it('are put into the order of the questions', () => {
    const answers = [
      { id: 1, result: word('ff') },
      { id: 0, result: word('f'.repeat(64)) },
    ];
    assert.deepEqual(read(2, answers), [2n ** 256n - 1n, 255n]);
  });

  it('tell a contract that does not answer from a node that does not have the state', () => {
    const answers = [
      { id: 0, result: '0x' },
      { id: 1, result: '0x05' },
      { id: 2, error: { code: 3, message: 'execution reverted' } },
      { id: 3, error: { code: -32000, message: 'failed to load state at height 3; version does not exist' } },
      { id: 4, error: { code: -32000, message: 'requested height is greater than the latest block height' } },
      { id: 5, result: `${word('1')}00` },
      // A contract that reverts with such words is a contract all the same.
      { id: 6, error: { code: 3, message: 'execution reverted: pruned' } },
    ];
    const [never, gone] = ['unreadable', 'gone'];
    assert.deepEqual(read(7, answers), [never, never, never, gone, gone, never, never]);
  });

  it('are refused unless each question has one', () => {
    assert.throws(() => read(2, [{ id: 0, result: word('1') }]), failsWith('incomplete'));
    assert.throws(() => read(1, [{ id: 0 }]), failsWith('incomplete'));
    assert.throws(() => read(1, [null]), failsWith('incomplete'));
    assert.throws(() => read(1, { error: { message: 'batch too large' } }), failsWith('error_answer'));
    assert.throws(() => readBalances(1, 502, '<html>'), failsWith('not_json'));
  });
});

describe('questions for balances', () => {
  const token = (n: number): string => String(n).repeat(40);

  /** Tokens 2 and up answer at once; token 1 costs so many milliseconds for each of its holders. */
  async function world(
    slow_ms: number,
    work: (balances: Balances, asked: number[]) => Promise<void>,
    patience_ms = 1_000,
  ) {
    const asked: number[] = [];
    const node = await serveHttp(async (request, response) => {
      // biome-ignore lint/suspicious/noExplicitAny: one question, or a batch of them
      const parsed = (await json(request)) as any;
      if (!Array.isArray(parsed)) {
        response.end('{"jsonrpc":"2.0","id":1,"result":"0x5"}');
        return;
      }
      const slow = parsed.filter(({ params }) => params[0].to === `0x${token(1)}`).length;
      asked.push(slow);
      const answers = JSON.stringify(parsed.map(({ id }) => ({ id, result: word('7') })));
      setTimeout(() => response.end(answers), slow * slow_ms);
    });
    const jsonRpc = createEndpoints('jsonrpc', [node.url], { ...shared, timeout_ms: 1_000, connections: 8 });
    try {
      await work(createBalances({ ...shared, jsonRpc, most: 50, signal, patience_ms }), asked);
    } finally {
      await jsonRpc.close();
      await node.close();
    }
  }
  const questions = (count: number, of: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ token: of(n), account: word(String(n)).slice(26), height: 5 },
    }));

  it('one token that never answers holds up the others for seconds, and is then given up', () =>
    world(600_000, async (balances, asked) => {
      const mixed = questions(300, (n) => token((n % 3) + 1));
      const began = performance.now();
      const answers = await balances.ask(mixed);
      assert.ok(performance.now() - began < 30_000);
      assert.deepEqual(
        answers,
        mixed.map(({ token: one }) => (one === token(1) ? 'unanswered' : 7n)),
      );
      assert.deepEqual([balances.isGivenUp(token(1)), balances.isGivenUp(token(2))], [true, false]);
      const before = asked.filter((slow) => slow > 0).length;
      assert.deepEqual(await balances.ask(mixed), answers);
      assert.equal(asked.filter((slow) => slow > 0).length, before);
    }));

  it('one token that answers slowly is asked for fewer at once, and all its balances are known', () =>
    world(
      30,
      async (balances, asked) => {
        const slow = questions(50, () => token(1));
        assert.deepEqual(await balances.ask(slow), Array(50).fill(7n));
        assert.equal(asked[0], 50);
        assert.ok(Math.max(...asked.splice(0).slice(1)) < 50);
        // Its size is remembered: the next time no request fails.
        assert.deepEqual(await balances.ask(slow), Array(50).fill(7n));
        assert.ok(Math.max(...asked) < 50, String(asked));
        assert.equal(balances.isGivenUp(token(1)), false);
      },
      4_000,
    ));

  it('one token that answers slowly, but in one request, is not given up', () =>
    world(60, async (balances, asked) => {
      for (let round = 0; round < 2; round++)
        assert.deepEqual(await balances.ask(questions(10, () => token(1))), Array(10).fill(7n));
      assert.deepEqual([balances.isGivenUp(token(1)), asked], [false, [10, 10]]);
    }));

  it('one token that answers too slowly keeps the answers that came, and rests', () =>
    world(300, async (balances) => {
      const answers = await balances.ask(questions(50, () => token(1)));
      const known = answers.filter((answer) => answer === 7n).length;
      assert.ok(known > 1 && known < 50, `${known} answers`);
      assert.equal(balances.isGivenUp(token(1)), true);
      // What differs is asked for again at once.
      const [first] = questions(1, () => token(1));
      assert.ok(first !== undefined);
      assert.deepEqual(await balances.ask([first]), ['unanswered']);
      assert.deepEqual(await balances.ask([first], true), [7n]);
    }));
});

describe('names of tokens and accounts', () => {
  it('a contract in a denom is found in any case', () => {
    const hex = 'e7f1725E7734CE288F8367e1Bb143E90bb3F0512';
    assert.equal(contractInDenom(`EVM/${hex.toUpperCase()}`), hex.toLowerCase());
    for (const other of ['evm/', `evm/${hex}0`, `evm/0x${hex}`, `l2/${hex}`, 'GAS', ''])
      assert.equal(contractInDenom(other), undefined);
  });

  it('a contract that the bank does not know has the denom that it would have', () => {
    const hex = 'e7f1725E7734CE288F8367e1Bb143E90bb3F0512';
    assert.equal(denomOf(hex.toLowerCase()), `evm/${hex}`);
  });

  it('accounts of every kind have an address', () => {
    assert.equal(addressOf({ address: 'init1a' }), 'init1a');
    assert.equal(addressOf({ base_account: { address: 'init1b' } }), 'init1b');
    assert.equal(addressOf({ base_vesting_account: { base_account: { address: 'init1c' } } }), 'init1c');
    assert.equal(addressOf({}), undefined);
    assert.equal(addressOf(null), undefined);
  });
});

const [holder, other] = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`);
const coins = [3, 4, 5].map((n) => ({ denom: `evm/${String(n).repeat(40)}`, amount: '7' }));
/** A node with one account, which holds some coins; `answers` gives what is different. */
const nodeWith = (answers: (path: string) => object | undefined): Endpoints =>
  fakeEndpoints('rest', ({ path, body }) => {
    if (body !== undefined) return [200, '{"jsonrpc":"2.0","id":1,"result":"0x5"}'];
    const different = answers(path);
    if (different !== undefined) return [200, different];
    if (path.includes('/module_accounts')) return [200, page({ accounts: [] })];
    if (path.includes('/accounts')) return [200, page({ accounts: [{ address: holder }] })];
    if (path.includes('/balances/')) return [200, page({ balances: coins })];
    return [200, page({ supply: coins, denom_owners: [{ address: other, balance: { amount: '9' } }] })];
  });
const environment = (node: Endpoints) => ({
  ...{ rest: node, jsonRpc: node, log: createLog('silent'), metrics: createMetrics(), signal },
});

describe('lists of the node', () => {
  /** A node whose pages have these keys of the next one. */
  const rest = (nextKey: (page: number) => string) => {
    let asked = 0;
    const node = fakeEndpoints('rest', () => {
      asked += 1;
      return [200, page({ items: [asked] }, nextKey(asked))];
    });
    return { rest: node, asked: () => asked };
  };
  const readAll = async ({ rest: node }: { rest: Endpoints }): Promise<number[]> => {
    const all: number[] = [];
    for await (const page of pagesOf<number>(node, '/list', 'items', 1, signal, '', 500)) all.push(...page);
    return all;
  };

  it('are read to their end', async () => {
    const node = rest((page) => (page < 200 ? `key${page}` : ''));
    assert.equal((await readAll(node)).length, 200);
  });

  it('that come round again are an error, however long the circle', async () => {
    for (const [before, circle] of [
      [0, 1],
      [3, 2],
      [10, 70],
    ] as const) {
      const node = rest((page) => `key${page <= before ? -page : (page - before) % circle}`);
      await assert.rejects(readAll(node), /no end/);
      assert.ok(node.asked() < 5 * (before + circle) + 5, `${node.asked()} pages`);
    }
  });

  it('that have ever another page, with another key, are an error that names the node', async () => {
    const node = rest((page) => `key${page}`);
    const message = /the pages of \/list at node:1317 have no end: 500 items on 500 of them/;
    await assert.rejects(readAll(node), message);
    assert.equal(node.asked(), 501);
  });

  it('of what an account holds are handed on page by page', async () => {
    const coin = (n: number) => ({ denom: `evm/${String(n).padStart(40, '0')}`, amount: '7' });
    let asked = 0;
    const node = nodeWith((path) => {
      if (!path.includes('/balances/')) return undefined;
      asked += 1;
      return page({ balances: [coin(asked)] }, `key${asked}`);
    });
    const seed = await openSeed({ ...environment(node), account_prefix: 'init', concurrency: 4 }, 1);
    let found = 0;
    for await (const balances of seed.balances()) {
      found += balances.length;
      assert.equal(found, asked);
      if (found === 50) break;
    }
    assert.equal(found, 50);
  });
});

describe('the state to begin with', () => {
  async function readSeed(node: Endpoints, denoms_held?: number) {
    const own = environment(node);
    const seed = await openSeed({ ...own, account_prefix: 'init', concurrency: 4, denoms_held }, 1);
    const amounts: bigint[] = [];
    for await (const some of seed.balances()) amounts.push(...some.map(({ amount }) => amount));
    const { values } = await own.metrics.problems.get();
    return { amounts, unknown: values.some(({ labels }) => labels.kind === 'holders_unknown') };
  }

  it('has what accounts hold, also where they hold too many denoms to look for holders without an account', async () => {
    const node = nodeWith(() => undefined);
    assert.deepEqual(await readSeed(node), { amounts: [7n, 7n, 7n, 9n, 9n, 9n], unknown: false });
    assert.deepEqual(await readSeed(node, 2), { amounts: [7n, 7n, 7n], unknown: true });
  });

  it('has the holders of the denoms that the node lists before the list fails', async () => {
    let pages = 0;
    const node = nodeWith((path) => {
      if (path.includes('/balances/')) return page({ balances: [] });
      if (!path.includes('/supply')) return undefined;
      pages += 1;
      return pages > 100_000 ? {} : page({ supply: pages === 1 ? coins : [null] }, `key${pages}`);
    });
    assert.deepEqual(await readSeed(node), { amounts: [9n, 9n, 9n], unknown: true });
  });

  it('asks again for a page with a coin that cannot be read', async () => {
    let asked = 0;
    const node = nodeWith((path) => {
      if (!path.includes('/balances/')) return undefined;
      asked += 1;
      return asked === 1 ? page({ balances: [{ denom: 'evm/x', amount: 'many' }] }) : undefined;
    });
    assert.equal((await readSeed(node)).amounts.length, 6);
    assert.equal(asked, 2);
  });

  it('is asked for anew where the node gave a key of a page that it does not have', async () => {
    const node = nodeWith((path) => {
      if (!path.includes('v1beta1/accounts')) return undefined;
      return path.includes('pagination.key=') ? {} : page({ accounts: [null] }, 'bm9uZQ==');
    });
    const options = { ...environment(node), account_prefix: 'init', concurrency: 4, attempts_at_page: 3 };
    const seed = await openSeed(options, 1);
    await assert.rejects(async () => {
      for await (const _ of seed.balances());
    }, /is asked for anew.*v1beta1\/accounts/);
  });

  for (const key of ['0x'.repeat(100_000), 7, { length: 3 }, 'a b'])
    it(`is not asked for by a key that is none: ${String(key).slice(0, 20)}`, async () => {
      const node = nodeWith((path) =>
        path.includes('/balances/') ? page({ balances: [] }, key as string) : undefined,
      );
      const pages = pagesOf(node, '/cosmos/bank/v1beta1/balances/init1', 'balances', 1, signal);
      await assert.rejects(pages.next(), failsWith('malformed'));
    });

  it('is not read again and again from a node with accounts without end', async () => {
    let pages = 0;
    const node = nodeWith((path) => {
      if (!path.includes('v1beta1/accounts')) return undefined;
      pages += 1;
      return page({ accounts: [null] }, `key${pages}`);
    });
    let reason = '';
    const { openSeed: open } = writerOptions({
      ...environment(node),
      config: { ACCOUNT_ADDRESS_PREFIX: 'init', SEED_CONCURRENCY: 4, BALANCE_BATCH: 200 } as RichlistConfig,
      earlier: () => undefined,
      onSeeding: (progress) => {
        reason = progress;
      },
    });
    const seed = await open(1);
    await assert.rejects(async () => {
      for await (const _ of seed.balances());
    }, /no end/);
    const before = pages;
    await assert.rejects(open(1), /no end/);
    assert.equal(pages, before);
    assert.match(reason, /accounts at node:1317 have no end/);
  });
});
