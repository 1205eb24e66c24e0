import { callRpc } from '../../common/rpc/client.js';
import { bodyContent } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { ref } from '../openapi/schema.js';
import { evmInternalTxSchemas, evmTxSchemas } from '../openapi/schemas.js';
import { pageParameters } from '../pagination.js';
import { ethereumHashParameter } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { accountList, heightList, listBodies, wholeList } from './lists.js';

const receiptList = {
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
      ...receiptList,
      path: '/indexer/tx/v1/evm-txs',
      operation: 'listEvmTxs',
      summary: 'Receipts',
      doc: 'All receipts.',
      ...wholeList('txs', ({ tx }) => tx.listEvmTxs.bind(tx)),
    }),
    route({
      ...receiptList,
      path: '/indexer/tx/v1/evm-txs/by_account/{account}',
      operation: 'listEvmTxsByAccount',
      summary: 'Receipts of an account',
      doc: 'Receipts that name the account as from, to, contractAddress, address of a log or topic.',
      ...accountList('txs', 'Only receipts whose `from` is the account.', ({ tx }) =>
        tx.listEvmTxsByAccount.bind(tx),
      ),
    }),
    route({
      ...receiptList,
      path: '/indexer/tx/v1/evm-txs/by_height/{height}',
      operation: 'listEvmTxsByHeight',
      summary: 'Receipts of a block',
      doc: 'Receipts of a block; empty for one that is not there yet.',
      ...heightList('txs', ({ tx }) => tx.listEvmTxsByHeight.bind(tx)),
    }),
    route({
      path: '/indexer/tx/v1/evm-txs/{tx_hash}',
      operation: 'getEvmTx',
      summary: 'One receipt',
      doc: 'The receipt of an Ethereum hash. Cosmos hashes belong to `txs`.',
      parameters: { tx_hash: ethereumHashParameter },
      response: ref('tx.EvmTxResponse'),
      example: () => ({ tx: readExample('evm-tx') }),
      problems: [400, 404, 501],
      owners: ['tx'],
      only: receiptList.only,
      handler: async ({ tx_hash }, context) => {
        const { tx } = context.clients;
        const answer = await callRpc(tx.getEvmTx.bind(tx), { tx_hash: `0x${tx_hash}` }, context.call);
        return bodyContent('tx', { body: answer.tx, large: answer.large }, context);
      },
    }),
  ],
};

const frameList = {
  response: ref('tx.EvmInternalTxsResponse'),
  example: () => ({ internal_txs: [readExample('evm-internal-tx')], pagination: examplePage }),
  problems: [400, 501],
  owners: ['tx'],
  only: { vm: 'evm', what: 'EVM internal transactions' },
} as const;

const name = 'internal_txs';

const order = 'Newest first means highest height, then highest tx, then highest index.';

export const evmInternalTxsGroup: RouteGroup = {
  tag: 'EVM internal transactions',
  doc: 'Call frames of Ethereum txs (EVM rollups whose node has traces).',
  schemas: evmInternalTxSchemas,
  routes: [
    route({
      ...frameList,
      path: '/indexer/tx/v1/evm-internal-txs',
      operation: 'listEvmInternalTxs',
      summary: 'Call frames',
      doc: `All call frames, reverted ones included. ${order}`,
      ...wholeList(name, ({ tx }) => tx.listEvmInternalTxs.bind(tx)),
    }),
    route({
      ...frameList,
      path: '/indexer/tx/v1/evm-internal-txs/by_account/{account}',
      operation: 'listEvmInternalTxsByAccount',
      summary: 'Call frames of an account',
      doc: 'Call frames from or to the account.',
      ...accountList(name, 'Only frames whose `from` is the account.', ({ tx }) =>
        tx.listEvmInternalTxsByAccount.bind(tx),
      ),
    }),
    route({
      ...frameList,
      path: '/indexer/tx/v1/evm-internal-txs/by_height/{height}',
      operation: 'listEvmInternalTxsByHeight',
      summary: 'Call frames of a block',
      doc: 'Call frames of a block; empty while its trace is missing.',
      ...heightList(name, ({ tx }) => tx.listEvmInternalTxsByHeight.bind(tx)),
    }),
    route({
      ...frameList,
      path: '/indexer/tx/v1/evm-internal-txs/{tx_hash}',
      operation: 'listEvmInternalTxsByHash',
      summary: 'Call frames of a transaction',
      doc: 'Call frames of one tx; empty while its trace is missing.',
      parameters: { tx_hash: ethereumHashParameter, ...pageParameters },
      problems: [400, 404, 501],
      handler: ({ tx_hash, ...page }, context) => {
        const { tx } = context.clients;
        const request = { tx_hash: `0x${tx_hash}` };
        return listBodies(name, tx.listEvmInternalTxsByHash.bind(tx), request, page, context);
      },
    }),
  ],
};
