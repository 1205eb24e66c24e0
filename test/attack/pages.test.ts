import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import {
  collection,
  hashOfTx,
  type LargeStack,
  mebibytes,
  serveLargeTables,
  victim,
} from '../support/attack/large-tables.js';
import { forgetPeak, peakMemory_mb } from '../support/attack/memory.js';
import { eventually } from '../support/block.js';
import { testDatabase } from '../support/database.js';
import { stream } from '../support/rpc.js';
import { counting } from '../support/statements.js';

/** Small pages, so that walks are short: what is said of 8 MiB holds of one. */
const pageBytes = mebibytes(1);

const count = 30;
const [large, huge] = [15, mebibytes(5)];

const isServed = ({ url }: LargeStack): Promise<void> =>
  eventually(
    async () =>
      (await fetch(`${url}/indexer/tx/v1/txs?pagination.limit=1`)).ok &&
      (await fetch(`${url}/indexer/nft/v1/collections`)).ok,
    'txs and collections',
    20_000,
  );

interface Page {
  readonly pagination: { readonly next_key: string; readonly previous_key: string; readonly total: string };
  readonly txs?: readonly { readonly txhash: string }[];
  readonly collections?: readonly unknown[];
  readonly tokens?: readonly { readonly nft: { readonly token_id: string } }[];
}

describe('pages of what is large', () => {
  let stack: LargeStack;
  before(async () => {
    const sizes = Array.from({ length: count }, (_, index) =>
      index + 1 === large ? huge : index % 2 === 0 ? mebibytes(0.4) : 2_000,
    );
    const tokens = { count: 40, uri: mebibytes(0.15), name: mebibytes(0.15) };
    stack = await serveLargeTables(await testDatabase(), { txs: sizes, tokens }, { PAGE_MB: '1' });
    await isServed(stack);
  });
  after(() => stack.stop());

  const read = async (path: string): Promise<{ page: Page; bytes: number }> => {
    const response = await fetch(stack.url + path, { headers: { 'accept-encoding': 'identity' } });
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text.slice(0, 200)}`);
    assert.equal(text.length, Number(response.headers.get('content-length')));
    return { page: JSON.parse(text) as Page, bytes: text.length };
  };
  const itemsOf = ({ txs, tokens }: Page): string[] =>
    txs?.map(({ txhash }) => txhash) ?? tokens?.map(({ nft }) => nft.token_id) ?? [];

  /** Follows the keys of a list to its end, and back again. @returns the items on the way, each page in order. */
  async function walk(
    path: string,
    query: string,
  ): Promise<{ there: string[]; back: string[]; pages: number }> {
    const [there, back]: [string[], string[]] = [[], []];
    let pages = 0;
    let last = '';
    for (let key = ''; ; pages++) {
      const { page, bytes } = await read(`${path}?pagination.limit=1000&${query}&pagination.key=${key}`);
      const items = itemsOf(page);
      assert.ok(items.length > 0);
      assert.ok(items.length === 1 || bytes <= 2 * pageBytes, `${items.length} items in ${bytes} bytes`);
      there.push(...items);
      last = page.pagination.previous_key;
      key = page.pagination.next_key;
      if (key === '') break;
    }
    for (let key = last; key !== ''; ) {
      const { page, bytes } = await read(`${path}?pagination.limit=1000&${query}&pagination.key=${key}`);
      const items = itemsOf(page);
      assert.ok(items.length === 1 || bytes <= 2 * pageBytes);
      back.unshift(...items);
      key = page.pagination.previous_key;
    }
    return { there, back, pages };
  }

  const ascending = Array.from({ length: count }, (_, index) => hashOfTx(index + 1));
  const lists: readonly (readonly [string, string])[] = [
    ['/indexer/tx/v1/txs', ''],
    ['/indexer/tx/v1/txs', 'msgs=a.b.MsgC'],
    ['/indexer/tx/v1/txs/by_height/1', ''],
    [`/indexer/tx/v1/txs/by_account/0x${victim}`, ''],
    [`/indexer/tx/v1/txs/by_account/0x${victim}`, 'msgs=a.b.MsgC'],
  ];
  for (const [path, query] of lists)
    for (const reverse of [true, false])
      it(`${path} ${query} ${reverse ? 'newest' : 'oldest'} first: a walk shows every tx once, forth and back`, async () => {
        const { there, back, pages } = await walk(path, `${query}&pagination.reverse=${reverse}`);
        const expected = reverse ? ascending.toReversed() : ascending;
        assert.deepEqual(there, expected);
        assert.ok(pages > 5, `${pages} pages`);
        // The last page of the way there is not on the way back.
        assert.deepEqual(back, expected.slice(0, back.length));
        assert.ok(back.length >= count - 4);
      });

  it('a page by offset that would be cut is refused, and names a limit that fits', async () => {
    const path = '/indexer/tx/v1/txs?pagination.reverse=false&pagination.offset=2';
    const response = await fetch(`${stack.url}${path}&pagination.limit=50`);
    assert.equal(response.status, 400);
    const { message } = (await response.json()) as { message: string };
    assert.match(message, /PAGE_MB/);
    const fits = Number(/: (\d+) fits/.exec(message)?.[1]);
    const { page } = await read(`${path}&pagination.limit=${fits}`);
    assert.deepEqual(itemsOf(page), ascending.slice(2, 2 + fits));
    assert.equal((await fetch(`${stack.url}${path}&pagination.limit=${fits + 1}`)).status, 400);
  });

  it('a client that counts by offsets from 0 on is refused too, one that goes by keys is not', async () => {
    const path = `${stack.url}/indexer/tx/v1/txs?pagination.limit=50&pagination.offset=0`;
    assert.equal((await fetch(path)).status, 400);
    assert.equal((await fetch(`${path}&pagination.key=`)).status, 200);
  });

  it('a tx that is larger than a page is given by its hash and to several at once, a part at a time', async () => {
    const path = `/indexer/tx/v1/txs/${hashOfTx(large)}`;
    const sizes = await Promise.all(
      Array.from({ length: 8 }, async () => (await (await fetch(stack.url + path)).arrayBuffer()).byteLength),
    );
    assert.deepEqual(new Set(sizes), new Set([huge + '{"tx":}'.length]));
    const { page } = await read(
      `/indexer/tx/v1/txs?pagination.offset=${large - 1}&pagination.limit=1&pagination.reverse=false`,
    );
    assert.deepEqual(itemsOf(page), [hashOfTx(large)]);
  });

  it('a client that leaves such a tx ends the reading of it, and the next one is served', async () => {
    const path = `/indexer/tx/v1/txs/${hashOfTx(large)}`;
    for (let n = 0; n < 5; n++) {
      const request = httpGet(stack.url + path);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await once(response, 'data');
      request.destroy();
    }
    const answer = await fetch(`${stack.url}${path}?again`);
    assert.equal((await answer.arrayBuffer()).byteLength, huge + '{"tx":}'.length);
  });

  const tokenLists: readonly (readonly [string, string])[] = [
    [`/indexer/nft/v1/tokens/by_account/0x${victim}`, 'order_by=token_id'],
    [`/indexer/nft/v1/tokens/by_account/0x${victim}`, 'order_by=height'],
    [`/indexer/nft/v1/tokens/by_collection/0x${collection}`, ''],
  ];
  for (const [path, query] of tokenLists)
    it(`${path.slice(0, 40)} ${query}: pages count the name of the collection with each token`, async () => {
      const first = await read(`${path}?${query}&pagination.limit=1000&pagination.reverse=false`);
      const shown = itemsOf(first.page);
      // 0.3 MiB a token: the uri, and the name.
      assert.deepEqual(shown, ['1', '2', '3']);
      assert.equal(first.page.pagination.total, '40');
      const second = await read(
        `${path}?${query}&pagination.limit=1000&pagination.reverse=false&pagination.key=${first.page.pagination.next_key}`,
      );
      assert.deepEqual(itemsOf(second.page), ['4', '5', '6']);
      const back = await read(
        `${path}?${query}&pagination.limit=1000&pagination.reverse=false&pagination.key=${second.page.pagination.previous_key}`,
      );
      assert.deepEqual(itemsOf(back.page), shown);
      assert.equal((await fetch(`${stack.url}${path}?${query}&pagination.offset=5`)).status, 400);
    });

  it('counts how often a page ended early', async () => {
    const text = await stack.metrics.registry.metrics();
    assert.match(text, /weft_limit_reached_total\{service="tx",limit="PAGE_MB"\} \d+/);
    assert.match(text, /weft_limit_reached_total\{service="nft",limit="PAGE_MB"\} \d+/);
  });
});

describe('many pages of what is large, at once', () => {
  it('take no more memory than a few pages, and none is above 16 MiB', async () => {
    const txs = Array.from({ length: 24 }, () => mebibytes(4));
    const tokens = { count: 60, uri: mebibytes(1), name: mebibytes(1) };
    const stack = await serveLargeTables(await testDatabase(), { txs, tokens });
    try {
      await isServed(stack);
      forgetPeak();
      const before = peakMemory_mb();
      const asked = Array.from({ length: 30 }, async (_, n) => {
        const path = n % 2 === 0 ? '/indexer/tx/v1/txs' : `/indexer/nft/v1/tokens/by_account/0x${victim}`;
        const response = await fetch(`${stack.url}${path}?pagination.limit=${900 - n}`, {
          headers: { 'accept-encoding': 'identity' },
        });
        let bytes = 0;
        for await (const part of response.body ?? []) bytes += (part as Uint8Array).length;
        return { status: response.status, bytes };
      });
      for (const { status, bytes } of await Promise.all(asked)) {
        assert.ok(status === 200 || status === 504, `${status}`);
        assert.ok(bytes <= mebibytes(16), `${bytes} bytes`);
      }
      const taken = peakMemory_mb() - before;
      assert.ok(taken < 600, `${Math.round(taken)} MiB`);
    } finally {
      await stack.stop();
    }
  });
});

describe('what accounts did in txs that are large', () => {
  it('is told to several readers in the memory of a few txs', async () => {
    const txs = Array.from({ length: 40 }, () => mebibytes(8));
    const stack = await serveLargeTables(await testDatabase(), {
      txs,
      tokens: { count: 1, uri: 1, name: 1 },
    });
    const client = connectRpc(TxServiceClient, stack.tx_address);
    try {
      await isServed(stack);
      forgetPeak();
      const before = peakMemory_mb();
      const told = Array.from({ length: 4 }, async () => {
        let count = 0;
        for await (const part of stream(client).streamActivity({ from_height: 1, to_height: 1 }))
          count += part.txs.length;
        return count;
      });
      assert.deepEqual(new Set(await Promise.all(told)), new Set([txs.length]));
      const taken = peakMemory_mb() - before;
      assert.ok(taken < 300, `${Math.round(taken)} MiB`);
    } finally {
      client.close();
      await stack.stop();
    }
  });
});

describe('what accounts did in many blocks of large txs', () => {
  it('is told a few megabytes of them at a time', async () => {
    const txs = Array.from({ length: 40 }, () => mebibytes(1));
    const stack = await serveLargeTables(await testDatabase(), {
      ...{ txs, txs_per_block: 2, tokens: { count: 1, uri: 1, name: 1 } },
    });
    const client = connectRpc(TxServiceClient, stack.tx_address);
    try {
      await isServed(stack);
      const parts: { count: number; through: number }[] = [];
      const request = { from_height: 1, to_height: 20 };
      for await (const part of stream(client).streamActivity(request))
        parts.push({ count: part.txs.length, through: part.through_height });
      assert.deepEqual(
        parts,
        [4, 8, 12, 16, 20].map((through) => ({ count: 8, through })),
      );
    } finally {
      client.close();
      await stack.stop();
    }
  });
});

describe('pages over what contracts and txs have piled up', () => {
  const [tokens, versions] = [200, 150];
  let stack: LargeStack;
  let run: (sql: string) => Promise<void>;
  /** Rows of the longest answer to a statement. */
  let seen = { most: 0 };
  before(async () => {
    const database = await testDatabase();
    run = (sql) => database.command(sql, {}, { name: 'fill' });
    const { counted, seen: ofStack } = counting(database);
    seen = ofStack;
    stack = await serveLargeTables(counted, {
      txs: [2_000, 2_000, 2_000],
      tokens: { count: tokens, uri: 100, name: 10 },
    });
    await isServed(stack);
  });
  after(() => stack.stop());

  const readWithin = async (path: string, most_mb: number): Promise<Page> => {
    forgetPeak();
    const before_mb = peakMemory_mb();
    const response = await fetch(stack.url + path);
    const page = (await response.json()) as Page;
    assert.equal(response.status, 200, JSON.stringify(page).slice(0, 300));
    const taken = peakMemory_mb() - before_mb;
    assert.ok(taken < most_mb, `${Math.round(taken)} MiB`);
    return page;
  };

  it('of tokens with many uris reads the last one of each alone', async () => {
    const t = `${stack.prefix}_nft`;
    for (let version = 2; version <= versions; version++)
      await run(
        `INSERT INTO ${t}.token_uris (collection, id_key, uri, is_void, at, version)
         SELECT collection, id_key, randomPrintableASCII(16000), false, at, ${version} FROM ${t}.token_uris WHERE version = 1`,
      );
    await run(`OPTIMIZE TABLE ${t}.token_uris FINAL`);
    const path = `/indexer/nft/v1/tokens/by_collection/0x${collection}?pagination.limit=${tokens}`;
    const { tokens: shown } = await readWithin(path, 400);
    assert.equal(shown?.length, tokens);
  });

  it('of one token id in many collections reads those of the page alone', async () => {
    const [t, others] = [`${stack.prefix}_nft`, 20_000];
    const each = `(SELECT concat(leftPad(toString(number), 8, '0'), repeat('d', 32)) AS address FROM numbers(${others}))`;
    const key = `(SELECT id_key FROM ${t}.token_lists WHERE list = 'owner' ORDER BY id_key LIMIT 1)`;
    for (const [list, height] of [
      ['owner', '0'],
      ['owner_height', '2 + toUInt64(substring(address, 1, 8))'],
    ] as const)
      await run(
        `INSERT INTO ${t}.token_lists (list, scope, height, id_key, collection, version, is_deleted) SELECT '${list}', '${victim}', ${height}, ${key}, address, 1, 0 FROM ${each}`,
      );
    await run(
      `INSERT INTO ${t}.token_states (collection, id_key, owner, uri, minted_at, height, timestamp, tx_count, at, version, is_deleted) SELECT address, ${key}, '${victim}', randomPrintableASCII(16000), 1, 2 + toUInt64(substring(address, 1, 8)), '', 0, 1, 1, 0 FROM ${each} SETTINGS max_block_size = 512`,
    );
    await run(
      `INSERT INTO ${t}.token_counts (account, collection, token_count, version, is_deleted) SELECT '${victim}', address, 1, 1, 0 FROM ${each}`,
    );
    await run(
      `INSERT INTO ${t}.shown_collections (collection, born_at, creator, name, timestamp, version, is_deleted) SELECT address, 1, '${victim}', 'x', '', 1, 0 FROM ${each}`,
    );
    const path = `/indexer/nft/v1/tokens/by_account/0x${victim}?token_id=1&pagination.limit=2`;
    for (const order of ['height', 'token_id']) {
      const page = await readWithin(`${path}&order_by=${order}`, 300);
      assert.equal(page.tokens?.length, 2);
      assert.equal(page.pagination.total, String(others + 1));
      const next = await readWithin(
        `${path}&order_by=${order}&pagination.key=${page.pagination.next_key}`,
        300,
      );
      assert.equal(next.tokens?.length, 2);
      assert.notDeepEqual(next.tokens, page.tokens);
    }
  });

  it('of an account with tokens of very many collections read those of the page alone', async () => {
    const [t, owner, others] = [`${stack.prefix}_nft`, 'e'.repeat(40), 100_000];
    const key = `(SELECT id_key FROM ${t}.token_lists WHERE list = 'owner' ORDER BY id_key LIMIT 1)`;
    const address = "concat(leftPad(toString(number), 8, '0'), repeat('e', 32))";
    const values: Readonly<Record<string, string>> = {
      account: `'${owner}'`,
      owner: `'${owner}'`,
      scope: `'${owner}'`,
      list: "'owner'",
      collection: address,
      id_key: key,
      born_at: 'number + 1',
      name: "'x'",
      token_count: '1',
    };
    // Every second collection is shown.
    seen.most = 0;
    for (const [table, columns, step] of [
      ['token_counts', ['account', 'collection', 'token_count'], 1],
      ['token_lists', ['list', 'scope', 'id_key', 'collection'], 1],
      ['token_states', ['collection', 'id_key', 'owner'], 1],
      ['shown_collections', ['collection', 'born_at', 'name'], 2],
    ] as const)
      await run(
        `INSERT INTO ${t}.${table} (${columns.join(', ')}, version)
         SELECT ${columns.map((column) => values[column]).join(', ')}, 1 FROM numbers(${others}) WHERE number % ${step} = 0`,
      );
    for (const path of [
      `/indexer/nft/v1/collections/by_account/0x${owner}?pagination.limit=2`,
      `/indexer/nft/v1/tokens/by_account/0x${owner}?pagination.limit=2`,
      `/indexer/nft/v1/tokens/by_account/0x${owner}?pagination.limit=2&token_id=1`,
    ]) {
      const first = await readWithin(path, 250);
      assert.equal(first.pagination.total, String(others / 2), path);
      const next = await readWithin(`${path}&pagination.key=${first.pagination.next_key}`, 250);
      for (const { tokens, collections } of [first, next]) assert.equal((tokens ?? collections)?.length, 2);
    }
    assert.ok(seen.most < 100, `${seen.most} rows`);
  });

  it('of message types that come in any combination goes by their names', async () => {
    const t = `${stack.prefix}_tx`;
    const most = 200_000;
    await run(
      `INSERT INTO ${t}.msg_sets (msg_set, msgs, first_sequence) SELECT number + 2, arrayConcat(['a.b.MsgC'], arrayMap(bit -> concat('a.b.Msg', toString(bit)), bitPositionsToArray(number + 1))), 1 FROM numbers(${most})`,
    );
    for (const path of [
      '/indexer/tx/v1/txs',
      '/indexer/tx/v1/txs/by_height/1',
      `/indexer/tx/v1/txs/by_account/0x${victim}`,
    ]) {
      const { txs } = await readWithin(`${path}?msgs=a.b.MsgC&again=1`, 300);
      assert.equal(txs?.length, 3, path);
    }
  });
});
