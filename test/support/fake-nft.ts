import type { PageRequest, PageResponse } from '../../services/common/gen/indexer/common/v1/common.js';
import type { Collection, Token } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { notFound } from '../../services/common/runtime/errors.js';

/** NFTs of a fake chain, oldest first. */
export interface FakeNfts {
  readonly collections: readonly Collection[];
  readonly tokens: readonly Token[];
}

/** Cuts a page out of a list. */
type Paginate = <T>(
  all: readonly T[],
  request: PageRequest | undefined,
) => { items: T[]; pagination: PageResponse };

type Paged = { readonly pagination: PageRequest | undefined };

/** Some NFTs, made from the examples of the document. */
export function fakeNfts(example: (name: string) => Record<string, unknown>): FakeNfts {
  const numbers = [1, 2, 3];
  return {
    collections: numbers.map((height) => ({
      ...(example('nft-collection') as unknown as Collection),
      height,
    })),
    tokens: numbers.map((height) => ({ ...(example('nft-token') as unknown as Token), height })),
  };
}

/**
 * Handlers of a fake nft service.
 *
 * @param txHashes hashes of the txs that every token has.
 */
export function fakeNftHandlers(nfts: FakeNfts, txHashes: () => readonly string[], pageOf: Paginate) {
  const collections = async (request: Paged) => {
    const { items, pagination } = pageOf(nfts.collections, request.pagination);
    return { collections: items, pagination };
  };
  const tokens = async (request: Paged & { readonly token_id: string }) => {
    const { items, pagination } = pageOf(
      nfts.tokens.filter(({ nft }) => request.token_id === '' || nft?.token_id === request.token_id),
      request.pagination,
    );
    return { tokens: items, pagination };
  };
  return {
    getCollection: async (request: { collection_addr: string }) => {
      const collection = nfts.collections.find(({ object_addr }) => object_addr === request.collection_addr);
      if (collection === undefined) throw notFound(`there is no collection ${request.collection_addr}`);
      return { collection };
    },
    listCollections: collections,
    listCollectionsByAccount: collections,
    listCollectionsByName: async (request: Paged & { readonly name: string }) =>
      request.name === 'nobody'
        ? { collections: [], pagination: { next_key: '', previous_key: '', total: '0' } }
        : collections(request),
    listTokensByAccount: tokens,
    listTokensByCollection: tokens,
    listTokenTxs: async (request: Paged & { readonly token_id: string }) => {
      const all = request.token_id === '4' ? txHashes() : [];
      const { items, pagination } = pageOf(all, request.pagination);
      return { tx_hashes: items, height: items.length, pagination };
    },
  };
}
