import { callRpc } from '../../common/rpc/client.js';
import { asEitherSpelling } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { ref } from '../openapi/schema.js';
import { pageParameters, pageRequest } from '../pagination.js';
import { accountParameter, collectionParameter, pathTextParameter } from '../parameters.js';
import { type Route, route } from '../route.js';
import { movingContent } from './lists.js';

const list = {
  response: ref('nft.CollectionsResponse'),
  example: () => ({ collections: [readExample('nft-collection')], pagination: examplePage }),
  problems: [400],
  owners: ['nft'],
} as const;

export const nftCollectionRoutes: readonly Route[] = [
  route({
    ...list,
    path: '/indexer/nft/v1/collections',
    operation: 'listCollections',
    summary: 'Collections',
    doc: 'All collections by creation: height, position of the tx, position in it.',
    parameters: pageParameters,
    handler: async (page, { clients, call, about }) => {
      const pagination = pageRequest(page);
      const answer = await callRpc(clients.nft.listCollections.bind(clients.nft), { pagination }, call);
      return movingContent('collections', answer.collections, pagination, answer.pagination, about);
    },
  }),
  route({
    ...list,
    path: '/indexer/nft/v1/collections/by_account/{account}',
    operation: 'listCollectionsByAccount',
    summary: 'Collections of an account',
    doc: 'Collections of which the account holds a token now, by creation.',
    parameters: { account: accountParameter, ...pageParameters },
    handler: async ({ account, ...page }, { clients, call, about }) => {
      const request = { account, pagination: pageRequest(page) };
      const answer = await callRpc(clients.nft.listCollectionsByAccount.bind(clients.nft), request, call);
      return movingContent('collections', answer.collections, request.pagination, answer.pagination, about);
    },
  }),
  route({
    ...list,
    path: '/indexer/nft/v1/collections/by_name/{name}',
    operation: 'listCollectionsByName',
    summary: 'Collections by name',
    doc: 'Collections whose name, or origin name, is the one asked for or contains it, whatever the case: those that are called so first, in both directions, each by creation.',
    parameters: {
      name: pathTextParameter('Name of a collection, or a part of it.', 'interwoven'),
      ...pageParameters,
    },
    handler: async ({ name, ...page }, { clients, call, about }) => {
      const pagination = pageRequest(page);
      const ask = (text: string) =>
        callRpc(clients.nft.listCollectionsByName.bind(clients.nft), { name: text, pagination }, call);
      const answer = await asEitherSpelling(name, ask, ({ collections }) => collections.length > 0);
      return movingContent('collections', answer.collections, pagination, answer.pagination, about);
    },
  }),
  route({
    path: '/indexer/nft/v1/collections/{collection_addr}',
    operation: 'getCollection',
    summary: 'One collection',
    doc: 'The collection of an address.',
    parameters: {
      collection_addr: collectionParameter,
    },
    response: ref('nft.CollectionResponse'),
    example: () => ({ collection: readExample('nft-collection') }),
    problems: [400, 404],
    owners: ['nft'],
    handler: async ({ collection_addr }, { clients, call }) => {
      const { collection } = await callRpc(
        clients.nft.getCollection.bind(clients.nft),
        { collection_addr },
        call,
      );
      return { body: Buffer.from(JSON.stringify({ collection })), settled: false };
    },
  }),
];
