import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { readFitting } from '../../common/page/fit.js';
import { type MovingList, type MovingPage, memoryList, movingPage } from '../../common/page/moving.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { holdingOf, type ListName } from '../store/tables.js';
import { type ShownCollection, tokenName } from '../store/types.js';
import { tokenKey } from '../token-key.js';
import { readCounts, readHeld } from './counts.js';
import {
  countItems,
  ends,
  findAmong,
  findLongId,
  type Item,
  type ItemList,
  parsePosition,
  positionOf,
  readItems,
  shorten,
} from './items.js';
import type { Reading } from './reader.js';
import { readShown, readShownSizes } from './shown.js';
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

/** An item of a list, with its token where that was read to find it. */
interface Listed extends Item {
  readonly token?: TokenRow;
}

/** The tokens of a collection; none when it is not shown. */
export async function listTokensByCollection(
  reading: Reading,
  collection: string,
  query: TokenQuery,
): Promise<MovingPage<ShownToken>> {
  const { token_id, order, page } = query;
  const name = `tokens/by_collection/${collection}?${order}&${token_id}`;
  const shown = await readShown(reading, [collection]);
  if (!shown.has(collection)) return pageOf(reading, page, noItems(name));
  if (token_id !== '')
    return pageOf(
      reading,
      page,
      memoryItems(name, () => oneToken(reading, collection, query)),
    );
  const of = { list: listIn('collection', order), scope: collection };
  return pageOf(reading, page, {
    ...tableItems(reading, name, of),
    count: () => countIn(reading, '', collection),
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
  if (collection === '') {
    const { shown, hidden } = await readHeld(reading, owner);
    const of = {
      list: listIn('owner', order),
      scope: owner,
      ...(hidden === 0 ? {} : { shown_of: owner }),
      // An account has one token of an id in each of so many collections.
      ...(token_id === '' ? {} : { id_key: tokenKey(token_id) }),
    };
    const count = async () => (token_id === '' ? shown : countItems(reading, { ...of, list: 'owner' }));
    return pageOf(reading, page, { ...tableItems(reading, name, of), count }, owner);
  }
  if (!(await readShown(reading, [collection])).has(collection)) return pageOf(reading, page, noItems(name));
  if (token_id !== '') {
    const load = () => oneToken(reading, collection, query, owner);
    return pageOf(reading, page, memoryItems(name, load));
  }
  const of = { list: listIn('holding', order), scope: holdingOf(owner, collection) };
  const count = () => countIn(reading, owner, collection);
  return pageOf(reading, page, { ...tableItems(reading, name, of), count }, owner);
}

/** How many tokens an account has in a collection; with the account '' how many the collection has. */
const countIn = async (reading: Reading, account: string, collection: string): Promise<number> =>
  (await readCounts(reading, account, [collection])).get(collection) ?? 0;

const listIn = (list: 'collection' | 'owner' | 'holding', order: TokenOrder): ListName =>
  order === 'height' ? `${list}_height` : list;

/** A list that is read from its table. */
const tableItems = (reading: Reading, name: string, of: ItemList): Omit<MovingList<Listed>, 'count'> => ({
  ...{ name, ends, positionOf, shorten },
  parse: (parts) => parsePosition(parts, (height, hash) => findLongId(reading, of, height, hash)),
  read: (range) => readItems(reading, of, range),
});

/** A list of few tokens, which is read whole. */
const memoryItems = (name: string, load: () => Promise<Listed[]>): MovingList<Listed> =>
  memoryList(
    { name, ends, positionOf, shorten, parse: (parts) => parsePosition(parts, findAmong(load)) },
    load,
  );

const noItems = (name: string): MovingList<Listed> => memoryItems(name, async () => []);

/** The token of an id in a collection, if it is there and somebody's. */
async function oneToken(
  reading: Reading,
  collection: string,
  { token_id, order }: TokenQuery,
  owner?: string,
): Promise<Listed[]> {
  const id_key = tokenKey(token_id);
  const token = (await readTokens(reading, [{ collection, id_key }])).get(tokenName(collection, id_key));
  const isWanted = token !== undefined && !token.burnt && (owner === undefined || token.owner === owner);
  return isWanted ? [{ height: order === 'height' ? token.height : 0, id_key, collection, token }] : [];
}

/** How often a page is read again because tokens have moved since its list was read, and after which pause in milliseconds. */
const [mostReads, pause_ms] = [3, 25];

/**
 * The tokens of a page. While a batch is written a token can stand in two lists; its state tells which of them counts, see
 * `tokenRows`. A page from which one was left out is read again, so that it is as long as it should be. Should that be so
 * for long, because the writer was stopped in between, it is shorter.
 *
 * @param owner whose list it is, unless it is a collection's.
 */
async function pageOf(
  reading: Reading,
  request: PageRequest,
  list: MovingList<Listed>,
  owner?: string,
): Promise<MovingPage<ShownToken>> {
  const isThere = (item: Found): item is Found & ShownToken =>
    item.collection !== undefined &&
    item.token?.burnt === false &&
    (owner === undefined || item.token.owner === owner) &&
    (item.height === 0 || item.token.height === item.height);
  for (let reads = 1; ; reads++) {
    const { items, pagination } = await readPage(reading, request, list);
    const there = items.filter(isThere);
    if (there.length === items.length || reads === mostReads) return { items: there, pagination };
    await sleep(pause_ms);
  }
}

/** What was found of an item: its height in the list, the token and its collection. */
type Found = Pick<Item, 'height'> & Partial<ShownToken>;

async function readPage(
  reading: Reading,
  request: PageRequest,
  list: MovingList<Listed>,
): Promise<MovingPage<Found>> {
  const { items, pagination } = await readFitting(
    request,
    reading.page,
    (wanted) => movingPage(wanted, list),
    (page) => sizesOf(reading, page.items),
  );
  if (items.length === 0) return { items: [], pagination };
  const [tokens, shown] = await Promise.all([
    readTokens(
      reading,
      items.filter((item) => item.token === undefined),
    ),
    readShown(reading, [...new Set(items.map(({ collection }) => collection))]),
  ]);
  const described = items.map(({ height, collection, id_key, token: found }) => {
    const [token, of] = [found ?? tokens.get(tokenName(collection, id_key)), shown.get(collection)];
    return {
      height,
      ...(token === undefined ? {} : { token }),
      ...(of === undefined ? {} : { collection: of }),
    };
  });
  return { items: described, pagination };
}

/** Bytes of tokens as a page shows them, each with the names of its collection. */
async function sizesOf(reading: Reading, items: readonly Item[]): Promise<number[]> {
  // One is shown however large it is.
  if (items.length < 2) return items.map(() => 0);
  const [sizes, shown] = await Promise.all([
    readTokenSizes(reading, items),
    readShownSizes(reading, [...new Set(items.map(({ collection }) => collection))]),
  ]);
  return items.map(({ collection }, index) => (sizes[index] ?? 0) + (shown.get(collection)?.size ?? 0));
}
