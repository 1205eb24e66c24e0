import { examplePage, readExample } from '../openapi/examples.js';
import { ref } from '../openapi/schema.js';
import { evmInternalTxSchemas } from '../openapi/tx-schemas.js';
import { pageParameters } from '../pagination.js';
import { ethereumHashParameter } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { accountList, heightList, listBodies, wholeList } from './lists.js';

const list = {
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
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs',
      operation: 'listEvmInternalTxs',
      summary: 'Call frames',
      doc: `All call frames, reverted ones included. ${order}`,
      ...wholeList(name, ({ tx }) => tx.listEvmInternalTxs.bind(tx)),
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs/by_account/{account}',
      operation: 'listEvmInternalTxsByAccount',
      summary: 'Call frames of an account',
      doc: 'Call frames from or to the account.',
      ...accountList(name, 'Only frames whose `from` is the account.', ({ tx }) =>
        tx.listEvmInternalTxsByAccount.bind(tx),
      ),
    }),
    route({
      ...list,
      path: '/indexer/tx/v1/evm-internal-txs/by_height/{height}',
      operation: 'listEvmInternalTxsByHeight',
      summary: 'Call frames of a block',
      doc: 'Call frames of a block; empty while its trace is missing.',
      ...heightList(name, ({ tx }) => tx.listEvmInternalTxsByHeight.bind(tx)),
    }),
    route({
      ...list,
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
