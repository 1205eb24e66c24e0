import { callRpc } from '../../common/rpc/client.js';
import { bodyContent } from '../json.js';
import { examplePage, readExample } from '../openapi/examples.js';
import { ref } from '../openapi/schema.js';
import { evmTxSchemas } from '../openapi/tx-schemas.js';
import { ethereumHashParameter } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { accountList, heightList, wholeList } from './lists.js';

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
      ...wholeList('txs', ({ tx }) => tx.listEvmTxs.bind(tx)),
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-txs/by_account/{account}',
      operation: 'listEvmTxsByAccount',
      summary: 'Receipts of an account',
      doc: 'Receipts that name the account as from, to, contractAddress, address of a log or topic.',
      ...accountList('txs', 'Only receipts whose `from` is the account.', ({ tx }) =>
        tx.listEvmTxsByAccount.bind(tx),
      ),
    }),
    route({
      ...list,
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
      only: list.only,
      handler: async ({ tx_hash }, context) => {
        const { tx } = context.clients;
        const answer = await callRpc(tx.getEvmTx.bind(tx), { tx_hash: `0x${tx_hash}` }, context.call);
        return bodyContent('tx', { body: answer.tx, large: answer.large }, context);
      },
    }),
  ],
};
