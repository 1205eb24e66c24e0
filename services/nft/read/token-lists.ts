import { invalidArgument } from '../../common/errors.js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { holdingOf, type ListName } from '../store/tables.js';
import { type ShownCollection, tokenName } from '../store/types.js';
import { afterAllKeys, beforeAllKeys, tokenKey } from '../token-key.js';
import { readCounts, readHoldings } from './counts.js';
import { type Item, readItems } from './items.js';
import { memoryList } from './memory-list.js';
import { type MovingList, type MovingPage, movingPage, type Position } from './moving-page.js';
import type { Reading } from './reader.js';
import { readShown } from './shown.js';
import { readTokens, type TokenRow } from './tokens.js';

/** How a list of tokens is sorted. */
export type TokenOrder = 'token_id' | 'height';

/** A token with its collection, as it is shown. */
export interface ShownToken {
  readonly token: TokenRow;
  readonly collection: ShownCollection;
}

/** What tokens are asked for beside their account or collection; '' for no filter. */
export interface TokenQuery {
  readonly token_id: string;
  readonly order: TokenOrder;
  readonly page: PageRequest;
}

const emptyPage = (): MovingPage<ShownToken> => ({
  items: [],
  pagination: { next_key: '', previous_key: '', total: '0' },
});

const byPlace = {
  ends: [
    [0, beforeAllKeys, ''],
    [Number.MAX_SAFE_INTEGER, afterAllKeys, 'g'],
  ],
  positionOf: ({ height, id_key, collection }: Item): Position => [height, id_key, collection],
  parse([height = '', id_key = '', collection = '']: readonly string[]): Position {
    if (!/^\d{1,16}$/.test(height)) throw invalidArgument('pagination.key is not a key of this list');
    return [Number(height), id_key, collection];
  },
} as const;

/** The tokens of a collection; none when it is not shown. */
export async function listTokensByCollection(
  reading: Reading,
  collection: string,
  query: TokenQuery,
): Promise<MovingPage<ShownToken>> {
  const { token_id, order, page } = query;
  const name = `tokens/by_collection/${collection}?${order}&${token_id}`;
  const shown = await readShown(reading, [collection]);
  if (!shown.has(collection))
    return pageOf(
      reading,
      page,
      shown,
      memoryItems(name, async () => []),
    );
  if (token_id !== '')
    return pageOf(
      reading,
      page,
      shown,
      memoryItems(name, () => oneToken(reading, collection, query)),
    );
  return pageOf(reading, page, shown, {
    name,
    ...byPlace,
    read: (range) =>
      readItems(reading, { list: listIn('collection', order), scope: collection, hidden: [] }, range),
    count: async () => (await readCounts(reading, '', [collection])).get(collection) ?? 0,
  });
}

/** The tokens of an account, in all collections that are shown or in one of them. */
export async function listTokensByAccount(
  reading: Reading,
  owner: string,
  collection: string,
  query: TokenQuery,
): Promise<MovingPage<ShownToken>> {
  const { token_id, order, page } = query;
  const name = `tokens/by_account/${owner}?${collection}&${order}&${token_id}`;
  const held =
    collection === ''
      ? await readHoldings(reading, owner)
      : [...(await readCounts(reading, owner, [collection]))].map(([address, n]) => ({
          collection: address,
          n,
        }));
  const shown = await readShown(
    reading,
    held.map((holding) => holding.collection),
  );
  const hidden = held.map((holding) => holding.collection).filter((address) => !shown.has(address));
  const total = held.reduce((sum, holding) => sum + (shown.has(holding.collection) ? holding.n : 0), 0);
  if (total === 0)
    return pageOf(
      reading,
      page,
      shown,
      memoryItems(name, async () => []),
    );
  if (token_id !== '') {
    const load = () =>
      collection === ''
        ? tokensOfId(reading, owner, hidden, query)
        : oneToken(reading, collection, query, owner);
    return pageOf(reading, page, shown, memoryItems(name, load));
  }
  const [list, scope] =
    collection === '' ? (['owner', owner] as const) : (['holding', holdingOf(owner, collection)] as const);
  return pageOf(reading, page, shown, {
    name,
    ...byPlace,
    read: (range) => readItems(reading, { list: listIn(list, order), scope, hidden }, range),
    count: async () => total,
  });
}

const listIn = (list: 'collection' | 'owner' | 'holding', order: TokenOrder): ListName =>
  order === 'height' ? `${list}_height` : list;

const memoryItems = (name: string, load: () => Promise<Item[]>): MovingList<Item> =>
  memoryList({ name, ...byPlace }, load);

/** The token of an id in a collection, if it is there and somebody's. */
async function oneToken(
  reading: Reading,
  collection: string,
  { token_id, order }: TokenQuery,
  owner?: string,
): Promise<Item[]> {
  const id_key = tokenKey(token_id);
  const token = (await readTokens(reading, [{ collection, id_key }])).get(tokenName(collection, id_key));
  const isWanted = token !== undefined && !token.burnt && (owner === undefined || token.owner === owner);
  return isWanted ? [{ height: order === 'height' ? token.height : 0, id_key, collection }] : [];
}

/** Most tokens of one id that an account is asked about: it has one in each of so many collections. */
const mostOfId = 100_000;

/** The tokens of an id that an account has, in whatever collections. */
async function tokensOfId(
  reading: Reading,
  owner: string,
  hidden: readonly string[],
  { token_id, order }: TokenQuery,
): Promise<Item[]> {
  const id_key = tokenKey(token_id);
  const items = await readItems(
    reading,
    { list: 'owner', scope: owner, hidden, id_key },
    { anchor: undefined, descending: false, offset: 0, limit: mostOfId },
  );
  if (order === 'token_id') return items;
  const tokens = await readTokens(reading, items);
  return items.map((item) => ({
    ...item,
    height: tokens.get(tokenName(item.collection, item.id_key))?.height ?? 0,
  }));
}

async function pageOf(
  reading: Reading,
  request: PageRequest,
  shown: ReadonlyMap<string, ShownCollection>,
  list: MovingList<Item>,
): Promise<MovingPage<ShownToken>> {
  const { items, pagination } = await movingPage(request, list);
  if (items.length === 0) return { ...emptyPage(), pagination };
  const tokens = await readTokens(reading, items);
  const described = items.map(({ collection, id_key }) => {
    const [token, of] = [tokens.get(tokenName(collection, id_key)), shown.get(collection)];
    if (token === undefined || of === undefined)
      throw new Error(`the token ${collection}/${id_key} is in a list only`);
    return { token, collection: of };
  });
  return { items: described, pagination };
}
