import { callRpc } from '../../common/rpc/client.js';
import { bodyContent } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { ref } from '../openapi/schema.js';
import { txSchemas } from '../openapi/schemas.js';
import { pageParameters } from '../pagination.js';
import { hashParameter, msgsParameter, wireHeight } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { accountListParameters, heightListParameters, listBodies } from './lists.js';

const list = {
  response: ref('tx.TxsResponse'),
  example: () => ({ txs: [readExample('tx')], pagination: examplePage }),
  problems: [400],
  owners: ['tx'],
} as const;

const order = 'Newest first means highest height, then highest position in the block.';

export const txGroup: RouteGroup = {
  tag: 'Transactions',
  doc: 'Transactions with their results.',
  schemas: txSchemas,
  routes: [
    route({
      ...list,
      path: '/indexer/tx/v1/txs',
      operation: 'listTxs',
      summary: 'Transactions',
      doc: `All txs. ${order}`,
      parameters: { msgs: msgsParameter, ...pageParameters },
      handler: ({ msgs, ...page }, context) => {
        const { tx } = context.clients;
        return listBodies('txs', tx.listTxs.bind(tx), { msgs: [...msgs] }, page, context);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/txs/by_account/{account}',
      operation: 'listTxsByAccount',
      summary: 'Transactions of an account',
      doc: 'Txs that the account signed or is named in: in an event, and on EVM in a log or a receipt. An account without any gives an empty list. When the index does not answer, an answer of up to ten minutes ago is given with its `Age`.',
      parameters: { ...accountListParameters('Only txs that the account signed.'), msgs: msgsParameter },
      // Wallets cannot show their approve screen without this list.
      outlives_failure: true,
      handler: ({ account, is_signer, msgs, ...page }, context) => {
        const { tx } = context.clients;
        const request = { account, is_signer, msgs: [...msgs] };
        return listBodies('txs', tx.listTxsByAccount.bind(tx), request, page, context);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/txs/by_height/{height}',
      operation: 'listTxsByHeight',
      summary: 'Transactions of a block',
      doc: `Txs of a block; empty for one that is not there yet. ${order}`,
      parameters: { ...heightListParameters, msgs: msgsParameter },
      handler: ({ height, msgs, ...page }, context) => {
        const { tx } = context.clients;
        const request = { height: wireHeight(height), msgs: [...msgs] };
        return listBodies('txs', tx.listTxsByHeight.bind(tx), request, page, context);
      },
    }),
    route({
      path: '/indexer/tx/v1/txs/{tx_hash}',
      operation: 'getTx',
      summary: 'One transaction',
      doc: 'The tx of a Cosmos hash. Ethereum hashes belong to `evm-txs`.',
      parameters: {
        tx_hash: hashParameter(
          'Cosmos tx hash.',
          '0A7B18D9F667D602B26B93B1005AE40FBA0B5EA8A2AC8EFC796C8683FAA323AD',
        ),
      },
      response: ref('tx.TxResponse'),
      example: () => ({ tx: readExample('tx') }),
      problems: [400, 404],
      owners: ['tx'],
      handler: async ({ tx_hash }, context) => {
        const { tx } = context.clients;
        const request = { tx_hash: tx_hash.toUpperCase() };
        const answer = await callRpc(tx.getTx.bind(tx), request, context.call);
        return bodyContent('tx', { body: answer.tx, large: answer.large }, context);
      },
    }),
  ],
};
