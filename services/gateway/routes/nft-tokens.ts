import { TokenOrder } from '../../common/gen/indexer/nft/v1/nft.js';
import { callRpc } from '../../common/rpc/client.js';
import { asEitherSpelling } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { ref } from '../openapi/schema.js';
import { pageParameters, pageRequest } from '../pagination.js';
import {
  accountParameter,
  choiceParameter,
  collectionParameter,
  optionalAccountParameter,
  textParameter,
} from '../parameters.js';
import { type Route, route } from '../route.js';
import { movingContent } from './lists.js';

const list = {
  response: ref('nft.NftsResponse'),
  example: () => ({ tokens: [readExample('nft-token')], pagination: examplePage }),
  problems: [400],
  owners: ['nft'],
} as const;

const token_id = textParameter('Only the token of this id. Empty means all.');

const order_by = choiceParameter(
  'token_id',
  ['token_id', 'height'],
  'How to sort: by `token_id`, numbers by value and before other ids; or by `height`, the block of the last change.',
);

const orders = { token_id: TokenOrder.TOKEN_ID, height: TokenOrder.HEIGHT } as const;

export const nftTokenRoutes: readonly Route[] = [
  route({
    ...list,
    path: '/indexer/nft/v1/tokens/by_account/{account}',
    operation: 'listTokensByAccount',
    summary: 'Tokens of an account',
    doc: 'Tokens that the account owns now, in all collections or in one.',
    parameters: {
      account: accountParameter,
      collection_addr: optionalAccountParameter(
        'Only tokens of this collection: bech32 or 0x hex. Empty means all.',
      ),
      token_id,
      order_by,
      ...pageParameters,
    },
    handler: async ({ account, collection_addr, token_id: id, order_by: by, ...page }, context) => {
      const { clients, call, about } = context;
      const request = { account, collection_addr, order_by: orders[by], pagination: pageRequest(page) };
      const ask = (text: string) =>
        callRpc(clients.nft.listTokensByAccount.bind(clients.nft), { ...request, token_id: text }, call);
      const answer = await asEitherSpelling(id, ask, ({ tokens }) => tokens.length > 0);
      return movingContent('tokens', answer.tokens, request.pagination, answer.pagination, about);
    },
  }),
  route({
    ...list,
    path: '/indexer/nft/v1/tokens/by_collection/{collection_addr}',
    operation: 'listTokensByCollection',
    summary: 'Tokens of a collection',
    doc: 'Tokens that the collection has now: those that were burnt are gone.',
    parameters: {
      collection_addr: collectionParameter,
      token_id,
      order_by,
      ...pageParameters,
    },
    handler: async ({ collection_addr, token_id: id, order_by: by, ...page }, context) => {
      const { clients, call, about } = context;
      const request = { collection_addr, order_by: orders[by], pagination: pageRequest(page) };
      const ask = (text: string) =>
        callRpc(clients.nft.listTokensByCollection.bind(clients.nft), { ...request, token_id: text }, call);
      const answer = await asEitherSpelling(id, ask, ({ tokens }) => tokens.length > 0);
      return movingContent('tokens', answer.tokens, request.pagination, answer.pagination, about);
    },
  }),
];
