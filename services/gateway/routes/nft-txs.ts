import { status } from '@grpc/grpc-js';
import type { PageRequest } from '../../common/gen/indexer/common/v1/common.js';
import { isFromEnd, shortened } from '../../common/page/fit.js';
import { callRpc } from '../../common/rpc/client.js';
import { RpcError } from '../../common/runtime/errors.js';
import { asEitherSpelling, pageContent } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { ref } from '../openapi/schema.js';
import { pageParameters, pageRequest } from '../pagination.js';
import { collectionParameter, pathTextParameter } from '../parameters.js';
import { type Route, route } from '../route.js';

export const nftTxRoutes: readonly Route[] = [
  route({
    path: '/indexer/nft/v1/txs/{collection_addr}/{token_id}',
    operation: 'listNftTxs',
    summary: 'Transactions of a token',
    doc: 'Txs that minted, moved or burnt the token; on Move those that name its object too. A token that is burnt keeps them.',
    parameters: {
      collection_addr: collectionParameter,
      token_id: pathTextParameter('Token id.', '4'),
      ...pageParameters,
    },
    response: ref('tx.TxsResponse'),
    example: () => ({ txs: [readExample('tx')], pagination: examplePage }),
    problems: [400],
    owners: ['nft', 'tx'],
    handler: async ({ collection_addr, token_id, ...page }, context) => {
      const { nft, tx } = context.clients;
      const pagination = pageRequest(page);
      const list = (text: string, wanted: PageRequest) =>
        callRpc(
          nft.listTokenTxs.bind(nft),
          { collection_addr, token_id: text, pagination: wanted },
          context.call,
        );
      let id = token_id;
      const ask = (text: string) => {
        id = text;
        return list(text, pagination);
      };
      const answer = await asEitherSpelling(token_id, ask, ({ tx_hashes }) => tx_hashes.length > 0);
      const { tx_hashes, height } = answer;
      if (tx_hashes.length === 0) {
        const none = { bodies: [], large: undefined };
        return pageContent('txs', none, pagination, answer.pagination, context);
      }
      // The tx service has them all, or the answer is that it does not yet; it gives those that fit into a page.
      const request = { tx_hashes, height, from_end: isFromEnd(pagination) };
      const given = await callRpc(tx.getTxsByHashes.bind(tx), request, context.call);
      const bodies = { bodies: given.txs, large: given.large };
      const count = given.large === undefined ? given.txs.length : 1;
      if (count === tx_hashes.length) {
        return pageContent('txs', bodies, pagination, answer.pagination, context);
      }
      const cut = await list(id, shortened(pagination, count, { onReached: () => {} }));
      const fitting = request.from_end ? tx_hashes.slice(-count) : tx_hashes.slice(0, count);
      if (fitting.join() !== cut.tx_hashes.join())
        throw new RpcError(status.UNAVAILABLE, 'the list changed while it was read');
      return pageContent('txs', bodies, pagination, cut.pagination, context);
    },
  }),
];
