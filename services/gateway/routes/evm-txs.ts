import { callRpc } from '../../common/rpc/client.js';
import { objectOf } from '../json.js';
import { examplePage, readExample } from '../openapi/examples.js';
import { ref } from '../openapi/schema.js';
import { evmTxSchemas } from '../openapi/tx-schemas.js';
import { pageParameters } from '../pagination.js';
import { hashParameter, wireHeight } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { accountListParameters, heightListParameters, listBodies } from './lists.js';

const list = {
  response: ref('tx.EvmTxsResponse'),
  example: () => ({ txs: [readExample('evm-tx')], pagination: examplePage }),
  problems: [400, 501],
  owners: ['tx'],
  only: { vm: 'evm', what: 'EVM transactions' },
} as const;

export const evmTxsGroup: RouteGroup = {
  tag: 'EVM transactions',
  doc: 'Ethereum receipts (EVM rollups only).',
  schemas: evmTxSchemas,
  routes: [
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs',
      operation: 'listEvmTxs',
      summary: 'Receipts',
      doc: 'All receipts.',
      parameters: pageParameters,
      handler: (page, context) => {
        const { tx } = context.clients;
        return listBodies('txs', tx.listEvmTxs.bind(tx), {}, page, context);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs/by_account/{account}',
      operation: 'listEvmTxsByAccount',
      summary: 'Receipts of an account',
      doc: 'Receipts that name the account as from, to, contractAddress, address of a log or topic.',
      parameters: accountListParameters('Only receipts whose `from` is the account.'),
      handler: ({ account, is_signer, ...page }, context) => {
        const { tx } = context.clients;
        return listBodies('txs', tx.listEvmTxsByAccount.bind(tx), { account, is_signer }, page, context);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs/by_height/{height}',
      operation: 'listEvmTxsByHeight',
      summary: 'Receipts of a block',
      doc: 'Receipts of a block; empty for one that is not there yet.',
      parameters: heightListParameters,
      handler: ({ height, ...page }, context) => {
        const { tx } = context.clients;
        const request = { height: wireHeight(height) };
        return listBodies('txs', tx.listEvmTxsByHeight.bind(tx), request, page, context);
      },
    }),
    route({
      path: '/indexer/tx/v1/evm-txs/{tx_hash}',
      operation: 'getEvmTx',
      summary: 'One receipt',
      doc: 'The receipt of an Ethereum hash. Cosmos hashes belong to `txs`.',
      parameters: {
        tx_hash: hashParameter(
          'Ethereum tx hash.',
          '0x44804c0d2d2d980aaec5200879abc924bb732e8e3855ece550023ff897f601dd',
        ),
      },
      response: ref('tx.EvmTxResponse'),
      example: () => ({ tx: readExample('evm-tx') }),
      problems: [400, 404, 501],
      owners: ['tx'],
      only: list.only,
      handler: async ({ tx_hash }, { clients, call }) => {
        const request = { tx_hash: `0x${tx_hash}` };
        const { tx } = await callRpc(clients.tx.getEvmTx.bind(clients.tx), request, call);
        return { body: objectOf('tx', tx), settled: true };
      },
    }),
  ],
};
