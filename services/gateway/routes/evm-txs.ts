import { callRpc } from '../../common/rpc/client.js';
import { objectOf, pageContent } from '../json.js';
import { examplePage, readExample } from '../openapi/examples.js';
import { ref } from '../openapi/schema.js';
import { evmTxSchemas } from '../openapi/tx-schemas.js';
import { pageParameters, pageRequest } from '../pagination.js';
import {
  accountParameter,
  booleanParameter,
  hashParameter,
  heightParameter,
  wireHeight,
} from '../parameters.js';
import { type RouteGroup, route } from '../route.js';

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
      handler: async (page, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const answer = await callRpc(clients.tx.listEvmTxs.bind(clients.tx), { pagination }, call);
        return pageContent('txs', answer.txs, pagination, answer.pagination, about.absent_key);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs/by_account/{account}',
      operation: 'listEvmTxsByAccount',
      summary: 'Receipts of an account',
      doc: 'Receipts that name the account as from, to, contractAddress, address of a log or topic.',
      parameters: {
        account: accountParameter,
        is_signer: booleanParameter(false, 'Only receipts whose `from` is the account.'),
        ...pageParameters,
      },
      handler: async ({ account, is_signer, ...page }, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const request = { account, is_signer, pagination };
        const answer = await callRpc(clients.tx.listEvmTxsByAccount.bind(clients.tx), request, call);
        return pageContent('txs', answer.txs, pagination, answer.pagination, about.absent_key);
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs/by_height/{height}',
      operation: 'listEvmTxsByHeight',
      summary: 'Receipts of a block',
      doc: 'Receipts of a block; empty for one that is not there yet.',
      parameters: { height: heightParameter, ...pageParameters },
      handler: async ({ height, ...page }, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const request = { height: wireHeight(height), pagination };
        const answer = await callRpc(clients.tx.listEvmTxsByHeight.bind(clients.tx), request, call);
        return pageContent('txs', answer.txs, pagination, answer.pagination, about.absent_key);
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
