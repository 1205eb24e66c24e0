import assert from 'node:assert/strict';
import { forEach } from '../few-at-a-time.js';
import { isThorough, sampled } from '../sample.js';
import type { ListAnswer } from '../walk.js';
import { type ApiRoute, pathOf } from './routes.js';
import { ask, jsonOf, listsOf, type Subject } from './subject.js';

interface OwnedKey {
  readonly route: ApiRoute;
  readonly key: string;
}

/** Positions that no list has, as texts inside a key. */
const positions = [
  ...[
    '-1',
    '0',
    '1e9',
    '1.5',
    '0x10',
    ' 5',
    'NaN',
    '9'.repeat(19),
    '9'.repeat(30),
    "1' OR 1",
    '\0',
    '',
    '漢',
  ],
];

/** One route's list with filters of all kinds, each ready for more parameters. */
function variantsFor({ known }: Subject): string[] {
  const account = '/indexer/tx/v1/txs/by_account';
  return [
    '/indexer/tx/v1/txs?',
    '/indexer/tx/v1/txs?msgs=minievm.evm.v1.MsgCall&',
    '/indexer/tx/v1/txs?msgs=minievm.evm.v1.MsgCall,cosmos.bank.v1beta1.MsgSend&',
    '/indexer/tx/v1/txs/by_height/52?',
    '/indexer/tx/v1/txs/by_height/53?',
    '/indexer/tx/v1/txs/by_height/52?msgs=minievm.evm.v1.MsgCall&',
    `${account}/${known.account}?`,
    `${account}/${known.account}?is_signer=true&`,
    `${account}/${known.account}?msgs=minievm.evm.v1.MsgCall&`,
    `${account}/0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266?`,
    ...['tokens/by_collection', 'tokens/by_account'].flatMap((route) => {
      const list = `/indexer/nft/v1/${route}/${route.endsWith('account') ? known.account : known.collection}?`;
      return [list, `${list}order_by=height&`];
    }),
    `/indexer/nft/v1/tokens/by_account/${known.account}?collection_addr=${known.collection}&`,
  ];
}

/** Page keys of other lists, cut, changed and made up. */
export function describeHostileKeys(routes: readonly ApiRoute[], subject: () => Subject): void {
  const lists = listsOf(routes);
  const keys: OwnedKey[] = [];
  before(async () => {
    for (const route of lists) {
      const target = `${pathOf(route)}?pagination.limit=1&pagination.offset=1`;
      const { pagination } = jsonOf<ListAnswer>(await ask(subject(), target));
      assert.ok(pagination.next_key !== '' && pagination.previous_key !== '', route.path);
      keys.push({ route, key: pagination.next_key }, { route, key: pagination.previous_key });
    }
  });

  it('a key is safe in a URL as it is', () => {
    for (const { key } of keys) assert.match(key, /^[A-Za-z0-9._~-]{1,200}$/);
  });

  it('a key of another list is refused', () =>
    forEach(lists, async (route) => {
      // The route's own among them.
      const own = keys.filter((one) => one.route === route);
      for (const { route: other, key } of [...own, ...sampled(keys, 4)]) {
        const answer = await ask(subject(), `${pathOf(route)}?pagination.key=${key}&pagination.limit=2`);
        assert.equal(answer.status, route === other ? 200 : 400, `${route.path}, key of ${other.path}`);
      }
    }));

  it('a key of the same list with another filter is refused', async () => {
    const variants = variantsFor(subject());
    const own: string[] = [];
    for (const path of variants) {
      const { pagination } = jsonOf<ListAnswer>(await ask(subject(), `${path}pagination.limit=1`));
      assert.notEqual(pagination.next_key, '', path);
      own.push(pagination.next_key);
    }
    for (const [i, path] of variants.entries()) {
      for (const [j, key] of own.entries()) {
        // Of those beside it and some others: which is which differs by the list.
        if (!isThorough && i !== j && (i + j) % 3 !== 0) continue;
        const answer = await ask(subject(), `${path}pagination.limit=1&pagination.key=${key}`);
        assert.equal(answer.status, i === j ? 200 : 400, `${path} with a key of ${variants[j]}`);
      }
    }
  });

  it('a key that is cut, changed or made up is refused, or leads to a page', () =>
    forEach(sampled(keys, 9), async ({ route, key }) => {
      const query = (text: string) =>
        ask(subject(), `${pathOf(route)}?pagination.limit=2&pagination.key=${encodeURIComponent(text)}`);
      const isPageOrRefused = async (text: string): Promise<void> => {
        const { status } = await query(text);
        assert.ok(status === 400 || status === 200, `${route.path} ${text}`);
      };
      assert.equal((await query(key.slice(1))).status, 400);
      assert.equal((await query(key.slice(0, 4))).status, 400);
      for (const wrong of [key.slice(0, -1), key.slice(0, 9), `${key}A`, `${key}=`, `${key}.${key}`])
        await isPageOrRefused(wrong);
      // Every third letter: each is as good as its neighbours.
      const places = Array.from({ length: Math.ceil(key.length / 3) }, (_, i) => (key.length % 3) + 3 * i);
      for (const i of sampled(places, 4)) {
        const flipped = String.fromCharCode(key.charCodeAt(i) ^ 1);
        await isPageOrRefused(key.slice(0, i) + flipped + key.slice(i + 1));
      }
      // Once for each list: what follows is the same for both of its keys.
      for (const position of keys.find((own) => own.route === route)?.key === key ? positions : []) {
        const part = Buffer.from(position).toString('base64url');
        for (const parts of [part, `${part}.${part}`]) await isPageOrRefused(key.slice(0, 9) + parts);
      }
    })).timeout(90_000);

  it('an offset past the end leads back to the last page, and that one nowhere further', () =>
    forEach(
      sampled([...lists.map((route) => `${pathOf(route)}?`), ...variantsFor(subject())], 12),
      async (path) => {
        for (const reverse of [true, false]) {
          const page = async (query: string): Promise<ListAnswer> =>
            jsonOf(await ask(subject(), `${path}pagination.reverse=${reverse}&pagination.limit=2&${query}`));
          const total = Number((await page('')).pagination.total);
          const last = await page(`pagination.offset=${total - 2}`);
          assert.equal(last.pagination.next_key, '', path);
          for (const offset of [total, total + 1, total + 1_000]) {
            const none = await page(`pagination.offset=${offset}`);
            const { previous_key } = none.pagination;
            const pagination = { next_key: '', previous_key, total: String(total) };
            assert.deepEqual(none, { [Object.keys(last)[0] as string]: [], pagination });
            assert.deepEqual(await page(`pagination.key=${previous_key}`), last, `${path} ${offset}`);
          }
        }
      },
    )).timeout(60_000);

  it('the limit may change from page to page, and a key wins over an offset', () =>
    forEach(keys, async ({ route, key }) => {
      const path = `${pathOf(route)}?pagination.key=${key}`;
      assert.equal((await ask(subject(), `${path}&pagination.limit=1000`)).status, 200);
      const page = jsonOf(await ask(subject(), `${path}&pagination.limit=1`));
      for (const offset of ['0', '1', '999999999999', '9'.repeat(60)]) {
        const target = `${path}&pagination.limit=1&pagination.offset=${offset}`;
        assert.deepEqual(jsonOf(await ask(subject(), target)), page);
      }
    }));
}
