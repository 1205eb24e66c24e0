import { callRpc } from '../../common/rpc/client.js';
import { pageContent } from '../json.js';
import { examplePage, readExample } from '../openapi/examples.js';
import { ref } from '../openapi/schema.js';
import { evmInternalTxSchemas } from '../openapi/tx-schemas.js';
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
  response: ref('tx.EvmInternalTxsResponse'),
  example: () => ({ internal_txs: [readExample('evm-internal-tx')], pagination: examplePage }),
  problems: [400, 501],
  owners: ['tx'],
  only: { vm: 'evm', what: 'EVM internal transactions' },
} as const;

const order = 'Newest first means highest height, then highest tx, then highest index.';

export const evmInternalTxsGroup: RouteGroup = {
  tag: 'EVM internal transactions',
  doc: 'Call frames of Ethereum txs (EVM rollups whose node has traces).',
  schemas: evmInternalTxSchemas,
  routes: [
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs',
      operation: 'listEvmInternalTxs',
      summary: 'Call frames',
      doc: `All call frames, reverted ones included. ${order}`,
      parameters: pageParameters,
      handler: async (page, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const answer = await callRpc(clients.tx.listEvmInternalTxs.bind(clients.tx), { pagination }, call);
        return pageContent(
          'internal_txs',
          answer.internal_txs,
          pagination,
          answer.pagination,
          about.absent_key,
        );
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs/by_account/{account}',
      operation: 'listEvmInternalTxsByAccount',
      summary: 'Call frames of an account',
      doc: 'Call frames from or to the account.',
      parameters: {
        account: accountParameter,
        is_signer: booleanParameter(false, 'Only frames whose `from` is the account.'),
        ...pageParameters,
      },
      handler: async ({ account, is_signer, ...page }, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const request = { account, is_signer, pagination };
        const method = clients.tx.listEvmInternalTxsByAccount.bind(clients.tx);
        const answer = await callRpc(method, request, call);
        return pageContent(
          'internal_txs',
          answer.internal_txs,
          pagination,
          answer.pagination,
          about.absent_key,
        );
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs/by_height/{height}',
      operation: 'listEvmInternalTxsByHeight',
      summary: 'Call frames of a block',
      doc: 'Call frames of a block; empty while its trace is missing.',
      parameters: { height: heightParameter, ...pageParameters },
      handler: async ({ height, ...page }, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const request = { height: wireHeight(height), pagination };
        const method = clients.tx.listEvmInternalTxsByHeight.bind(clients.tx);
        const answer = await callRpc(method, request, call);
        return pageContent(
          'internal_txs',
          answer.internal_txs,
          pagination,
          answer.pagination,
          about.absent_key,
        );
      },
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs/{tx_hash}',
      operation: 'listEvmInternalTxsByHash',
      summary: 'Call frames of a transaction',
      doc: 'Call frames of one tx; empty while its trace is missing.',
      parameters: {
        tx_hash: hashParameter(
          'Ethereum tx hash.',
          '0x44804c0d2d2d980aaec5200879abc924bb732e8e3855ece550023ff897f601dd',
        ),
        ...pageParameters,
      },
      problems: [400, 404, 501],
      handler: async ({ tx_hash, ...page }, { clients, call, about }) => {
        const pagination = pageRequest(page);
        const request = { tx_hash: `0x${tx_hash}`, pagination };
        const method = clients.tx.listEvmInternalTxsByHash.bind(clients.tx);
        const answer = await callRpc(method, request, call);
        return pageContent(
          'internal_txs',
          answer.internal_txs,
          pagination,
          answer.pagination,
          about.absent_key,
        );
      },
    }),
  ],
};
