import assert from 'node:assert/strict';
import type { PageRequest } from '../../services/common/gen/indexer/common/v1/common.js';
import type { MovingPage } from '../../services/common/page/moving.js';
import type { NftBlock } from '../../services/nft/decode/types.js';
import {
  describeCollections,
  listCollections,
  listCollectionsOf,
} from '../../services/nft/read/collections.js';
import { readOwner, streamAccountTokens, streamCollectionTokens } from '../../services/nft/read/past.js';
import { startReading } from '../../services/nft/read/reader.js';
import {
  listTokensByAccount,
  listTokensByCollection,
  type TokenOrder,
} from '../../services/nft/read/token-lists.js';
import { listTokenTxs } from '../../services/nft/read/token-txs.js';
import { endOf } from '../../services/nft/store/token.js';
import { compareBytes, tokenIdOf, tokenKey } from '../../services/nft/token-key.js';
import { type ExpectedList, pageOf } from './lists.js';
import { contracts, type ModelState, type ModelToken, modelOf, nameless, owners } from './nft-model.js';
import type { NftTables } from './nft-tables.js';

const keyOf = ({ token_id }: ModelToken): string => tokenKey(token_id);
const byId = (a: ModelToken, b: ModelToken): number =>
  compareBytes(keyOf(a), keyOf(b)) || compareBytes(a.collection, b.collection);
const byHeight = (a: ModelToken, b: ModelToken): number => a.height - b.height || byId(a, b);

const plain = ({ collection, token_id, owner, uri, height, timestamp }: ModelToken) => ({
  ...{ collection, token_id, owner, uri, height, timestamp },
});

/** Every list that there is, for a chain whose contracts but one are shown. */
export function everyNftList({ index }: NftTables, state: ModelState): ExpectedList[] {
  const reading = () => startReading(index.reader, {});
  const all = [...state.tokens.values()].filter(({ burnt }) => !burnt);
  const shown = all.filter(({ collection }) => collection !== nameless);
  const lists: ExpectedList[] = [];
  const add = (
    name: string,
    tokens: readonly ModelToken[],
    order: TokenOrder,
    read: (page: PageRequest) => ReturnType<typeof listTokensByCollection>,
  ): void => {
    const items = [...tokens].sort(order === 'height' ? byHeight : byId).map(plain);
    lists.push({
      name: `${name} by ${order}`,
      items,
      async read(page) {
        const { items: found, pagination } = await read(page);
        const tokensFound = found.map(({ token }) => ({
          ...{ collection: token.collection, token_id: tokenIdOf(token.id_key), owner: token.owner },
          ...{ uri: token.uri, height: token.height, timestamp: token.timestamp },
        }));
        return { items: tokensFound, pagination };
      },
    });
  };
  for (const order of ['token_id', 'height'] as const) {
    for (const collection of contracts) {
      const own = shown.filter((token) => token.collection === collection);
      add(`collection ${collection}`, own, order, (page) =>
        listTokensByCollection(reading(), collection, { token_id: '', order, page }),
      );
    }
    for (const owner of owners) {
      const own = shown.filter((token) => token.owner === owner);
      add(`owner ${owner}`, own, order, (page) =>
        listTokensByAccount(reading(), owner, '', { token_id: '', order, page }),
      );
      for (const collection of contracts) {
        const some = own.filter((token) => token.collection === collection);
        add(`owner ${owner} in ${collection}`, some, order, (page) =>
          listTokensByAccount(reading(), owner, collection, { token_id: '', order, page }),
        );
      }
      const ofId = own.filter(({ token_id }) => token_id === '9');
      add(`owner ${owner}, id 9`, ofId, order, (page) =>
        listTokensByAccount(reading(), owner, '', { token_id: '9', order, page }),
      );
    }
  }
  const born = [...state.births]
    .filter(([collection]) => collection !== nameless)
    .sort(([, a], [, b]) => a[0] - b[0] || a[1] - b[1])
    .map(([collection]) => collection);
  const sized = (collection: string) => ({
    collection,
    length: all.filter((token) => token.collection === collection).length,
  });
  const described = async (page: MovingPage<{ collection: string }>) => ({
    items: (await describeCollections(reading(), page.items)).map(({ collection, length }) => ({
      collection,
      length,
    })),
    pagination: page.pagination,
  });
  lists.push({
    name: 'collections',
    items: born.map(sized),
    read: async (page) => described(await listCollections(reading(), page)),
  });
  for (const owner of owners) {
    const held = born.filter((collection) =>
      all.some((t) => t.collection === collection && t.owner === owner),
    );
    lists.push({
      name: `collections of ${owner}`,
      items: held.map(sized),
      read: async (page) => described(await listCollectionsOf(reading(), owner, page)),
    });
  }
  return lists;
}

/** Compares the txs of every token, burnt ones too. */
export async function checkTokenTxs({ index }: NftTables, state: ModelState): Promise<void> {
  for (const { collection, token_id, txs } of state.tokens.values()) {
    const reading = startReading(index.reader, {});
    const { hashes, pagination } = await listTokenTxs(
      reading,
      collection,
      token_id,
      pageOf({ reverse: false }),
    );
    const expected = collection === nameless ? [] : txs;
    assert.deepEqual(hashes, expected, `${collection}/${token_id}`);
    assert.equal(pagination.total, String(expected.length));
  }
}

/** Compares who owned what after a block with what the blocks up to it lead to. */
export async function checkPast(
  { index }: NftTables,
  blocks: readonly NftBlock[],
  height: number,
): Promise<void> {
  const state = modelOf(blocks.slice(0, height));
  const reading = { ...startReading(index.reader, {}), end: endOf(height) };
  const all = [...state.tokens.values()];
  for (const { collection, token_id, owner, burnt } of all) {
    const found = await readOwner(reading, collection, tokenKey(token_id));
    assert.equal(found?.owner, burnt ? undefined : owner, `${collection}/${token_id} at ${height}`);
  }
  const alive = all.filter(({ burnt }) => !burnt);
  for (const owner of owners) {
    const found: string[] = [];
    for await (const batch of streamAccountTokens(reading, owner))
      found.push(...batch.map((t) => `${t.height}/${t.collection}/${tokenIdOf(t.id_key)}`));
    const expected = alive
      .filter((token) => token.owner === owner)
      .map((t) => `${t.height}/${t.collection}/${t.token_id}`);
    assert.deepEqual(found.sort(), expected.sort(), `${owner} at ${height}`);
  }
  for (const collection of contracts) {
    const found: string[] = [];
    for await (const batch of streamCollectionTokens(reading, collection))
      found.push(...batch.map(({ id_key, owner }) => `${tokenIdOf(id_key)}/${owner}`));
    const expected = alive.filter((t) => t.collection === collection).map((t) => `${t.token_id}/${t.owner}`);
    assert.deepEqual(found.sort(), expected.sort(), `${collection} at ${height}`);
  }
}
