import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { sleep } from '../../common/lifecycle.js';
import { readFitting } from '../../common/page/fit.js';
import { type MovingList, type MovingPage, memoryList, movingPage } from '../../common/page/moving.js';
import { holdingOf, type ListName } from '../store/tables.js';
import { type ShownCollection, tokenName } from '../store/types.js';
import { tokenKey } from '../token-key.js';
import { type Held, readCounts, readHeld } from './counts.js';
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
  const of = { list: listIn('collection', order), scope: collection };
  return pageOf(reading, page, {
    ...tableItems(reading, name, of),
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
    collection === '' ? await readHeld(reading, owner) : await readHeldIn(reading, owner, collection);
  if (held.shown === 0)
    return pageOf(
      reading,
      page,
      memoryItems(name, async () => []),
    );
  if (token_id !== '' && collection !== '') {
    const load = () => oneToken(reading, collection, query, owner);
    return pageOf(reading, page, memoryItems(name, load));
  }
  const of =
    collection === ''
      ? { list: listIn('owner', order), scope: owner }
      : { list: listIn('holding', order), scope: holdingOf(owner, collection) };
  // An account has one token of an id in each of so many collections.
  const shownOf = {
    ...of,
    ...(held.hidden === 0 ? {} : { shown_of: owner }),
    ...(token_id === '' ? {} : { id_key: tokenKey(token_id) }),
  };
  const count = async (): Promise<number> =>
    token_id === '' ? held.shown : countItems(reading, { ...shownOf, list: 'owner' });
  return pageOf(reading, page, { ...tableItems(reading, name, shownOf), count }, owner);
}

/** What an account holds in one collection. */
async function readHeldIn(reading: Reading, owner: string, collection: string): Promise<Held> {
  const [counts, shown] = await Promise.all([
    readCounts(reading, owner, [collection]),
    readShown(reading, [collection]),
  ]);
  return { shown: shown.has(collection) ? (counts.get(collection) ?? 0) : 0, hidden: 0 };
}

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
 * The tokens of a page. A list and the tokens themselves are read one after the other: where a batch that was written in
 * between has burnt a token, or given it away, the page is read again. Should that be so for long, because the writer was
 * stopped in between, the token is left out: it is where the list has not arrived yet.
 *
 * @param owner whose list it is, unless it is a collection's.
 */
async function pageOf(
  reading: Reading,
  request: PageRequest,
  list: MovingList<Listed>,
  owner?: string,
): Promise<MovingPage<ShownToken>> {
  const isThere = (item: Partial<ShownToken>): item is ShownToken =>
    item.collection !== undefined &&
    item.token?.burnt === false &&
    (owner === undefined || item.token.owner === owner);
  for (let reads = 1; ; reads++) {
    const { items, pagination } = await readPage(reading, request, list);
    const there = items.filter(isThere);
    if (there.length === items.length || reads === mostReads) return { items: there, pagination };
    await sleep(pause_ms);
  }
}

async function readPage(
  reading: Reading,
  request: PageRequest,
  list: MovingList<Listed>,
): Promise<MovingPage<Partial<ShownToken>>> {
  const { items, pagination } = await readFitting(
    request,
    reading.page,
    (wanted) => movingPage(wanted, list),
    (page) => sizesOf(reading, page.items),
  );
  if (items.length === 0) return { ...emptyPage(), pagination };
  const [tokens, shown] = await Promise.all([
    readTokens(
      reading,
      items.filter((item) => item.token === undefined),
    ),
    readShown(reading, [...new Set(items.map(({ collection }) => collection))]),
  ]);
  const described = items.map(({ collection, id_key, token: found }) => {
    const [token, of] = [found ?? tokens.get(tokenName(collection, id_key)), shown.get(collection)];
    return { ...(token === undefined ? {} : { token }), ...(of === undefined ? {} : { collection: of }) };
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
