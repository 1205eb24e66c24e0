import { callRpc } from '../../common/rpc/client.js';
import { exactly, natural, ref, text } from '../openapi/schema.js';
import { type RouteContext, type RouteGroup, route } from '../route.js';

/** Asks the services how far they are. */
async function askStatus({ clients, call, about }: RouteContext) {
  const [block, tx] = await Promise.all([
    callRpc(clients.block.getStatus.bind(clients.block), {}, call),
    callRpc(clients.tx.getStatus.bind(clients.tx), {}, call),
  ]);
  const status = {
    version: about.version,
    commit_hash: about.commit_hash,
    chain_id: block.chain_id || about.chain_id,
    height: Math.min(block.height, tx.height),
    internal_tx_height: tx.internal_tx_height,
    rich_list_height: 0, // this gateway has no rich list service behind it
  };
  // A replica that only serves does not hear the node: it knows of no height beyond its own.
  return { status, node_height: Math.max(block.node_height, block.height) };
}

export const statusGroup: RouteGroup = {
  tag: 'App',
  doc: 'The service itself.',
  schemas: {
    'status.StatusResponse': exactly({
      version: text('Version of the service.'),
      commit_hash: text('Commit it was built from, or `unknown`.'),
      chain_id: text('Chain id of the rollup.'),
      height: natural('Lowest height up to which both blocks and txs are served; 0 before the first block.'),
      internal_tx_height: natural(
        'Height up to which internal EVM txs are served; 0 where the rollup has none.',
      ),
      rich_list_height: natural('Height of the rich list; 0 where the rollup has none.'),
    }),
  },
  routes: [
    route({
      path: '/status',
      operation: 'getStatus',
      summary: 'How far the index is',
      doc: 'Version, chain and the heights up to which each part of the index is served.',
      parameters: {},
      response: ref('status.StatusResponse'),
      example: () => ({
        version: '0.1.0',
        commit_hash: 'unknown',
        chain_id: 'minievm-rec-1',
        height: 157,
        internal_tx_height: 157,
        rich_list_height: 0,
      }),
      problems: [],
      owners: ['block', 'tx'],
      handler: async (_, context) => {
        const { status } = await askStatus(context);
        return { body: Buffer.from(JSON.stringify(status)), settled: false };
      },
    }),
    route({
      path: '/live.json',
      operation: 'getLive',
      summary: 'Whether the index moves',
      doc: 'For the live page, which may change: the status, the tip of the node, and how long the height has stood still.',
      parameters: {},
      response: undefined,
      problems: [],
      owners: ['block', 'tx'],
      handler: async (_, context) => {
        const { status, node_height } = await askStatus(context);
        const quiet_ms = Math.round(context.quiet_ms(['block', 'tx']));
        return { body: Buffer.from(JSON.stringify({ ...status, node_height, quiet_ms })), settled: false };
      },
    }),
  ],
};
