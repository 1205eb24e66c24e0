import { status } from '@grpc/grpc-js';
import { type CallSettings, callRpc } from '../../common/rpc/client.js';
import { RpcError } from '../../common/runtime/errors.js';
import type { Clients } from '../clients.js';
import { exactly, natural, ref, text } from '../openapi/schema.js';
import { type About, type RouteContext, type RouteGroup, route } from '../route.js';

/** Asks the services how far they are. */
async function askStatus({ clients, call, about }: RouteContext) {
  const [block, tx, rich_list_height] = await Promise.all([
    callRpc(clients.block.getStatus.bind(clients.block), {}, call),
    callRpc(clients.tx.getStatus.bind(clients.tx), {}, call),
    about.vm === 'evm' ? richListHeight(clients, call) : 0,
  ]);
  const answer = {
    version: about.version,
    commit_hash: about.commit_hash,
    chain_id: block.chain_id || about.chain_id,
    height: Math.min(block.height, tx.height),
    internal_tx_height: tx.internal_tx_height,
    rich_list_height,
  };
  // A replica that only serves does not hear the node: it knows of no height beyond its own.
  return { answer, node_height: Math.max(block.node_height, block.height) };
}

export const createStatusGroup = (about: About): RouteGroup => ({
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
      rich_list_height: natural(
        'Height at which the rich list is served; 0 before its first block, and where the rollup has none.',
      ),
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
        rich_list_height: 157,
      }),
      problems: [],
      owners: about.vm === 'evm' ? ['block', 'tx', 'richlist'] : ['block', 'tx'],
      handler: async (_, context) => {
        const { answer } = await askStatus(context);
        return { body: Buffer.from(JSON.stringify(answer)), settled: false };
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
        const { answer, node_height } = await askStatus(context);
        const quiet_ms = Math.round(context.quiet_ms(['block', 'tx']));
        return { body: Buffer.from(JSON.stringify({ ...answer, node_height, quiet_ms })), settled: false };
      },
    }),
  ],
});

/** Statuses of a service that is not there. */
const away = new Set([status.UNAVAILABLE, status.UNIMPLEMENTED]);

/** The rich list's height; 0 while its service is away, so that the status of the others is shown all the same. */
async function richListHeight({ richlist }: Clients, call: CallSettings): Promise<number> {
  try {
    return (await callRpc(richlist.getStatus.bind(richlist), {}, call)).rich_list_height;
  } catch (error) {
    if (error instanceof RpcError && away.has(error.code)) return 0;
    throw error;
  }
}
