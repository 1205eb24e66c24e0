import { callRpc } from '../../common/rpc/client.js';
import { asEitherSpelling } from '../decode-again.js';
import { pageContent } from '../json.js';
import { examplePage, readExample } from '../openapi/examples.js';
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
    handler: async ({ collection_addr, token_id, ...page }, { clients, call, about }) => {
      const pagination = pageRequest(page);
      const ask = (text: string) => {
        const request = { collection_addr, token_id: text, pagination };
        return callRpc(clients.nft.listTokenTxs.bind(clients.nft), request, call);
      };
      const answer = await asEitherSpelling(token_id, ask, ({ tx_hashes }) => tx_hashes.length > 0);
      const { tx_hashes, height } = answer;
      // The tx service has them all, or the answer is that it does not yet.
      const { txs } =
        tx_hashes.length === 0
          ? { txs: [] }
          : await callRpc(clients.tx.getTxsByHashes.bind(clients.tx), { tx_hashes, height }, call);
      return pageContent('txs', txs, pagination, answer.pagination, about.absent_key);
    },
  }),
];
