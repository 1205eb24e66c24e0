import assert from 'node:assert/strict';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { type Gateway, startGateway } from '../../services/gateway/main.js';
import { answers } from '../support/clients/answers.js';
import { type Asker, type ClientRequest, clientRequests, urlsOf } from '../support/clients/requests.js';
import { type Facts, type RecordingName, readFacts, type recordings, vmOf } from '../support/facts.js';
import { forEach } from '../support/few-at-a-time.js';
import { readNftTruth } from '../support/nft-facts.js';
import { readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { chosen, sampled } from '../support/sample.js';
import { type Stack, startStack } from '../support/stack.js';
import { followBefore, startBefore } from '../support/suite.js';

interface Page {
  readonly pagination: {
    readonly next_key: string | null;
    readonly previous_key: string | null;
    readonly total: string;
  };
  readonly [list: string]: unknown;
}

const origin = 'https://app.example.org';

/** Fetches as a page of another origin does: what CORS does not allow is an error. */
async function fetchFromPage(url: string): Promise<Response> {
  const response = await fetch(url, { headers: { origin, accept: 'application/json' } });
  const allowed = response.headers.get('access-control-allow-origin');
  assert.ok(allowed === '*' || allowed === origin, `${url}: not readable from another origin`);
  return response;
}

/** The JSON of a good answer; anything else is an error, as it is to a client. */
async function read(url: string): Promise<Page> {
  const response = await fetchFromPage(url);
  assert.equal(response.status, 200, url);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  return (await response.json()) as Page;
}

const itemsOf = (page: Page): unknown[] =>
  Object.entries(page).find(([name]) => name !== 'pagination')?.[1] as unknown[];

/** Sends a request and goes on as its client does, checking every page; returns the pages. */
async function run(base: string, request: ClientRequest, first: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let key: string | null = ''; ; ) {
    const page = await read(base + first.replace('{key}', encodeURIComponent(key)));
    answers[request.answer](page, `${request.client} ${first}`);
    pages.push(page);
    if (request.paging === 'once') return pages;
    key = page.pagination.next_key;
    if (!key || (request.paging === 'at most 15' && (pages.length === 15 || itemsOf(page).length === 0)))
      return pages;
    assert.ok(pages.length < 200, `${first} does not end`);
  }
}

/** Values to ask with: all accounts, and samples of the rest with everything odd among them. */
function askerOf(name: (typeof recordings)[number], facts: Facts): Asker {
  // What the longer of the two Wasm recordings begins with is the other one.
  const begins = name === 'wasm-hostile' ? readFacts('wasm').height : 0;
  const signers = new Set(facts.txs.filter(({ height }) => height > begins).flatMap((tx) => tx.signers));
  const accounts = Object.values(facts.accounts as Record<string, Record<string, string>>).filter(
    ({ bech32 = '', address = '' }) => begins === 0 || signers.has(bech32 || address),
  );
  const receipts = [...readChain(name).receipts.values()].flat();
  const busy = facts.txs.map(({ height }) => height).filter((height, i, all) => height !== all[i - 1]);
  return {
    accounts: accounts.map(({ bech32, address }) => bech32 ?? address ?? ''),
    heights: [1, facts.height, ...busy.filter((height, i) => i % 6 === 0 || height > facts.height - 6)],
    tx_hashes: facts.txs
      .filter(({ code }, i) => code !== 0 || i % 12 === 0)
      .flatMap(({ hash }) => [hash, hash.toLowerCase()]),
    evm_accounts: accounts.slice(0, 4).flatMap(({ hex = '' }) => [hex, hex.toLowerCase()]),
    evm_hashes: receipts.filter((_, i) => i % 9 === 0).map((receipt) => String(receipt['transactionHash'])),
    ...nftsOf(name),
  };
}

/** NFTs to ask for: every collection, and tokens with every odd id among them. */
function nftsOf(name: RecordingName): Pick<Asker, 'collections' | 'tokens' | 'names'> {
  const { collections, tokens } = readNftTruth(name);
  const owned = tokens.filter(({ owner, token_id }) => owner.startsWith('init1') && token_id !== '');
  return {
    collections: collections.map(({ addr }) => addr),
    names: collections.map((one) => encodeURIComponent(one.name)),
    tokens: owned
      .filter(({ token_id }, i) => i % 4 === 0 || !/^\w+$/.test(token_id))
      .map(({ owner, addr, token_id }) => ({ owner, collection: addr, id: encodeURIComponent(token_id) })),
  };
}

for (const name of chosen('evm', 'wasm')) {
  const facts = readFacts(name);
  const vm = vmOf(name);
  const asker = askerOf(name, facts);

  describe(`the clients of the ${name} recording`, () => {
    const stack = startBefore(() => recordedStack(name));

    for (const request of clientRequests.filter(({ only = vm }) => only === vm)) {
      it(`${request.client}: ${request.url}`, () =>
        forEach(sampled(urlsOf(request, asker), 4), async (url) => {
          const pages = await run(stack.url, request, url);
          const total = Number(pages[0]?.pagination?.total);
          if (request.paging === 'once' || url.includes('count_total=false')) return;
          const items = pages.flatMap(itemsOf);
          assert.equal(items.length, total, url);
          assert.equal(new Set(items.map((item) => JSON.stringify(item))).size, total, `${url}: seen twice`);
        }));
    }

    it('an account that nobody knows has empty lists, and no error', async () => {
      const strangers = [`0x${'7'.repeat(40)}`, `0x${'7'.repeat(64)}`];
      const lists = ['txs', ...(vm === 'evm' ? ['evm-txs', 'evm-internal-txs'] : [])];
      for (const route of lists) {
        for (const stranger of strangers) {
          const page = await read(`${stack.url}/indexer/tx/v1/${route}/by_account/${stranger}`);
          assert.deepEqual([itemsOf(page), Number(page.pagination.total) || 0], [[], 0]);
        }
      }
    });

    it('what is not there is an error whose message a page can read', async () => {
      const unknown = ['/indexer/block/v1/blocks/999999', `/indexer/tx/v1/txs/${'0'.repeat(64)}`];
      const old = ['/indexer/tx/v1/txs/count', '/indexer/version', '/indexer/pair/v1/pairs'];
      for (const path of [...unknown, ...old]) {
        const response = await fetchFromPage(stack.url + path);
        assert.ok(response.status === 404 || response.status === 400, path);
        assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
        const { message } = (await response.json()) as { message: string };
        assert.ok(typeof message === 'string' && message !== '');
      }
    });

    it('a page of another origin may send what it wants to', async () => {
      const response = await fetch(`${stack.url}/indexer/tx/v1/txs`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'x-client',
        },
      });
      assert.ok(response.ok);
      assert.match(response.headers.get('access-control-allow-methods') ?? '', /\bGET\b/);
      assert.match(response.headers.get('access-control-allow-headers') ?? '', /x-client/);
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
    });

    if (vm === 'move') describeObjectPages(() => stack);
    if (name === 'evm') describeAbsentKeys(() => stack, asker);
  });
}

/** On Move the explorer shows an NFT's page from the txs that name its object. */
function describeObjectPages(stack: () => Stack): void {
  it('explorer: the first tx of an object made it, and its activity names what happened', async () => {
    const dogs = '0x33d9f8e321aa4f2ee5d58c4f6e9fb18c4fc015cd0c1402d3454a89019994f388';
    const zeros = '0x009328df3106470bbabd7da52eb50f3b4c51e0007e98f9b152cbcd84985c90f5';
    const path = '/indexer/tx/v1/txs/by_account';
    for (const [address, height] of [
      [dogs, '48'],
      [zeros, '92'],
      [`0x${zeros.slice(4)}`, '92'],
    ] as const) {
      const made = await read(`${stack().url}${path}/${address}?pagination.limit=1&pagination.reverse=false`);
      answers.txs(made, address);
      assert.deepEqual(
        (made['txs'] as { height: string }[]).map((tx) => tx.height),
        [height],
      );
      const activity = await read(
        `${stack().url}${path}/${address}?pagination.limit=10&pagination.reverse=true`,
      );
      answers.txs(activity, address);
      const kinds = (activity['txs'] as { events: { attributes: { value: string }[] }[] }[])
        .flatMap(({ events }) => events)
        .filter(({ attributes }) => attributes[0]?.value.includes('0x1::object::'));
      assert.notEqual(kinds.length, 0);
    }
  });
}

/** Clients for which an empty key is one more page need null there; the setting serves them. */
function describeAbsentKeys(stack: () => Stack, asker: Asker): void {
  describe('that take an empty key for one more page', () => {
    let gateway: Gateway;
    before(async () => {
      // The other services listen beside the block service.
      const { address } = stack().block;
      const env = {
        ...{ PORT: '0', VM_TYPE: 'evm', PAGINATION_ABSENT_KEY: 'null' },
        BLOCK_SERVICE_ADDR: address,
        TX_SERVICE_ADDR: address.replace(/block$/, 'tx'),
        NFT_SERVICE_ADDR: address.replace(/block$/, 'nft'),
        RICHLIST_SERVICE_ADDR: address.replace(/block$/, 'richlist'),
      };
      const config = loadSettings(gatewaySettings, env);
      gateway = await startGateway({ config, log: createLog('silent'), metrics: createMetrics() });
    });
    after(() => gateway?.stop());

    /** Pages until the next page's parameter is undefined, as react-query does. */
    async function pagesOf(base: string, url: string, most: number): Promise<Page[]> {
      const pages: Page[] = [];
      for (let key: string | undefined = ''; key !== undefined && pages.length < most; ) {
        const page = await read(base + url.replace('{key}', encodeURIComponent(key)));
        pages.push(page);
        key = page.pagination.next_key ?? undefined;
      }
      return pages;
    }

    it('come to an end with PAGINATION_ABSENT_KEY=null', async () => {
      const lists = clientRequests.filter(({ paging }) => paging === 'until falsy');
      await forEach(lists, async (request) => {
        const url = urlsOf(request, asker)[0] ?? '';
        const pages = await pagesOf(`http://127.0.0.1:${gateway.port}`, url, 300);
        assert.ok(pages.length < 300, `${url} does not end`);
        for (const page of pages) answers[request.answer](page, url);
        assert.equal(pages.at(-1)?.pagination.next_key, null);
        assert.equal(pages[0]?.pagination.previous_key, null);
        assert.deepEqual(pages.flatMap(itemsOf), (await run(stack().url, request, url)).flatMap(itemsOf));
      });
    });

    it('begin again without it, since the specification wants "" there', async () => {
      const url = '/indexer/tx/v1/txs?pagination.key={key}&pagination.limit=100';
      const pages = await pagesOf(stack().url, url, 3);
      assert.equal(pages[1]?.pagination.next_key, '');
      assert.deepEqual(pages[2], pages[0]);
    });
  });
}

describe('clients of a chain that moves', () => {
  const facts = readFacts('evm');
  const from = 40;
  const stack = followBefore({ recording: 'evm', tip: from }, async (node) => {
    const started = await startStack(node);
    await started.reaches(from);
    return started;
  });

  it('wallet and explorer see the new on top, and a walk shows what was there exactly once', async () => {
    const hashesOf = (page: Page): string[] =>
      (page['txs'] as { txhash: string }[]).map(({ txhash }) => txhash);
    const known = new Map(facts.txs.map((tx, position) => [tx.hash, position]));
    const account = (facts.accounts as { bech32: string }[])[0]?.bech32;
    const poll = `${stack.url}/indexer/tx/v1/txs/by_account/${account}?pagination.reverse=true&pagination.limit=10`;
    const list = `${stack.url}/indexer/tx/v1/txs?pagination.limit=3&pagination.key=`;
    const there = facts.txs.filter(({ height }) => height <= from).map(({ hash }) => hash);
    const walked: string[] = [];
    let key = '';
    let [newest, total] = [-1, 0];
    for (let tip = from; tip <= facts.height; tip += 3) {
      stack.node.setTip(tip);
      const activity = await read(poll);
      answers.txs(activity, poll);
      const positions = hashesOf(activity).map((hash) => known.get(hash) ?? -1);
      assert.deepEqual(
        positions,
        [...positions].sort((a, b) => b - a),
      );
      assert.ok((positions[0] ?? -1) >= newest && Number(activity.pagination.total) >= total, 'went back');
      [newest, total] = [positions[0] ?? -1, Number(activity.pagination.total)];
      if (tip === from || key !== '') {
        const page = await read(list + key);
        walked.push(...hashesOf(page));
        key = page.pagination.next_key ?? '';
      }
    }
    stack.node.setTip(facts.height);
    await stack.reaches(facts.height);
    for (; key !== ''; ) {
      const page = await read(list + key);
      walked.push(...hashesOf(page));
      key = page.pagination.next_key ?? '';
    }
    assert.deepEqual(walked, there.toReversed());
    const end = await read(poll);
    assert.deepEqual(
      hashesOf(end),
      hashesOf(await read(`${poll.replace('limit=10', 'limit=1000')}`)).slice(0, 10),
    );
    assert.ok(Number(end.pagination.total) > 40);
  });
});
