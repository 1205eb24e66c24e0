import { status } from '@grpc/grpc-js';
import { RpcError } from '../../common/errors.js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { readFitting } from '../../common/page/fit.js';
import { nameIn, ownerIn, type Scope } from '../store/editions.js';
import { holdingOf, type ListName } from '../store/tables.js';
import { type ShownCollection, tokenName } from '../store/types.js';
import { tokenKey } from '../token-key.js';
import { readCounts, readHoldings } from './counts.js';
import { readEditions } from './editions.js';
import { findLongId, type Item, type ItemList, readItems } from './items.js';
import { memoryList } from './memory-list.js';
import { type MovingList, type MovingPage, movingPage } from './moving-page.js';
import type { Reading } from './reader.js';
import { readPlacesOf, readShown, readShownPlaces } from './shown.js';
import { ends, findAmong, parsePosition, positionOf, shorten } from './token-position.js';
import { readTokenSizes, readTokens, type TokenRow } from './tokens.js';

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
      memoryItems(name, async () => []),
    );
  if (token_id !== '')
    return pageOf(
      reading,
      page,
      memoryItems(name, () => oneToken(reading, collection, query)),
    );
  const of = { family: 'collection', scope: collection } as const;
  const scope = nameIn(await readEditions(reading, [of]), of);
  return pageOf(reading, page, {
    ...tableItems(reading, name, { list: listIn('collection', order), scope, hidden: [] }),
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
  const of: Scope =
    collection === ''
      ? { family: 'owner', scope: owner }
      : { family: 'holding', scope: holdingOf(owner, collection) };
  const editions = await readEditions(reading, [of, { family: 'owner', scope: owner }]);
  const [name_in_counts, scope] = [ownerIn(editions, owner), nameIn(editions, of)];
  const held =
    collection === ''
      ? await readHoldings(reading, name_in_counts)
      : [...(await readCounts(reading, name_in_counts, [collection]))].map(([address, n]) => ({
          collection: address,
          n,
        }));
  const shown = await readPlacesOf(
    reading,
    held.map((holding) => holding.collection),
    name_in_counts,
  );
  const hidden = held.map((holding) => holding.collection).filter((address) => !shown.has(address));
  const total = held.reduce((sum, holding) => sum + (shown.has(holding.collection) ? holding.n : 0), 0);
  if (total === 0)
    return pageOf(
      reading,
      page,
      memoryItems(name, async () => []),
    );
  if (token_id !== '') {
    const load = () =>
      collection === ''
        ? tokensOfId(reading, { list: 'owner', scope, hidden, owner: name_in_counts }, query)
        : oneToken(reading, collection, query, owner);
    return pageOf(reading, page, memoryItems(name, load));
  }
  return pageOf(reading, page, {
    ...tableItems(reading, name, { list: listIn(of.family, order), scope, hidden, owner: name_in_counts }),
    count: async () => total,
  });
}

const listIn = (list: 'collection' | 'owner' | 'holding', order: TokenOrder): ListName =>
  order === 'height' ? `${list}_height` : list;

/** A list that is read from its table. */
const tableItems = (reading: Reading, name: string, of: ItemList): Omit<MovingList<Item>, 'count'> => ({
  ...{ name, ends, positionOf, shorten },
  parse: (parts) => parsePosition(parts, (height, hash) => findLongId(reading, of, height, hash)),
  read: (range) => readItems(reading, of, range),
});

/** A list of few tokens, which is read whole. */
const memoryItems = (name: string, load: () => Promise<Item[]>): MovingList<Item> =>
  memoryList(
    { name, ends, positionOf, shorten, parse: (parts) => parsePosition(parts, findAmong(load)) },
    load,
  );

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
async function tokensOfId(reading: Reading, of: ItemList, { token_id, order }: TokenQuery): Promise<Item[]> {
  const id_key = tokenKey(token_id);
  const items = await readItems(
    reading,
    { ...of, id_key },
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
  list: MovingList<Item>,
): Promise<MovingPage<ShownToken>> {
  const { items, pagination } = await readFitting(
    request,
    reading.page,
    (wanted) => movingPage(wanted, list),
    (page) => sizesOf(reading, page.items),
  );
  if (items.length === 0) return { ...emptyPage(), pagination };
  const [tokens, shown] = await Promise.all([
    readTokens(reading, items),
    readShown(reading, [...new Set(items.map(({ collection }) => collection))]),
  ]);
  const described = items.map(({ collection, id_key }) => {
    const [token, of] = [tokens.get(tokenName(collection, id_key)), shown.get(collection)];
    if (token === undefined || of === undefined)
      throw new RpcError(
        status.UNAVAILABLE,
        'the chain was rolled back while the call was answered: ask again',
      );
    return { token, collection: of };
  });
  return { items: described, pagination };
}

/** Bytes of tokens as a page shows them, each with the names of its collection. */
async function sizesOf(reading: Reading, items: readonly Item[]): Promise<number[]> {
  // One is shown however large it is.
  if (items.length < 2) return items.map(() => 0);
  const [sizes, shown] = await Promise.all([
    readTokenSizes(reading, items),
    readShownPlaces(reading, [...new Set(items.map(({ collection }) => collection))]),
  ]);
  return items.map(({ collection }, index) => (sizes[index] ?? 0) + (shown.get(collection)?.size ?? 0));
}
