import type { Block } from '../../common/gen/indexer/block/v1/block.js';
import { callRpc } from '../../common/rpc/client.js';
import { notFound } from '../../common/runtime/errors.js';
import { objectOf, pageContent } from '../json.js';
import { examplePage, readExample } from '../openapi/document.js';
import { decimal, exactly, listOf, ref, text, timestamp } from '../openapi/schema.js';
import { blockPageParameters, pageRequest } from '../pagination.js';
import { heightParameter, wireHeight } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';

const coin = exactly({ denom: text('Denomination.'), amount: decimal('Amount in the smallest unit.') });

const proposer = exactly(
  {
    moniker: text('Name of the validator.'),
    identity: text('Identity the validator gave; empty where the chain has none.'),
    operator_address: text('Operator address of the validator.'),
  },
  'Validator that proposed the block; three empty strings when it is not known.',
);

const block = exactly(
  {
    chain_id: text('Chain id.'),
    height: decimal('Height.'),
    hash: text("CometBFT's block hash, upper-case hex.", { pattern: '^[0-9A-F]*$' }),
    block_time: decimal('Whole milliseconds since the block before; "0" for the first indexed one.'),
    timestamp: timestamp('Time of the block.'),
    gas_used: decimal('Sum over all txs, failed ones included.'),
    gas_wanted: decimal('Sum over all txs, failed ones included.'),
    tx_count: decimal('Number of txs, failed ones included.'),
    total_fee: { ...listOf(coin), description: 'Fees offered, by denomination.' },
    proposer,
  },
  'A block.',
);

/** The proposer is always an object, its three texts empty when the service left it out. */
const blockJson = (body: Block): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...body,
      proposer: body.proposer ?? { moniker: '', identity: '', operator_address: '' },
    }),
  );

export const blockGroup: RouteGroup = {
  tag: 'Block',
  doc: 'Blocks.',
  schemas: {
    'block.Block': block,
    'block.BlockResponse': exactly({ block: ref('block.Block') }),
    'block.BlocksResponse': exactly({
      blocks: listOf(ref('block.Block')),
      pagination: ref('common.PaginationResponse'),
    }),
    'block.AvgBlockTimeResponse': exactly({
      avg_block_time: { type: 'number', minimum: 0, description: 'Seconds.' },
    }),
  },
  routes: [
    route({
      path: '/indexer/block/v1/avg_blocktime',
      operation: 'getAverageBlockTime',
      summary: 'Average time between blocks',
      doc: 'Average time between the last 100 indexed blocks in seconds, of fewer at the start; 0 with fewer than two.',
      parameters: {},
      response: ref('block.AvgBlockTimeResponse'),
      example: () => ({ avg_block_time: 4.195543383838384 }),
      problems: [],
      owners: ['block'],
      handler: async (_, { clients, call }) => {
        const { avg_block_time } = await callRpc(
          clients.block.getAverageBlockTime.bind(clients.block),
          {},
          call,
        );
        return { body: Buffer.from(JSON.stringify({ avg_block_time })), settled: false };
      },
    }),
    route({
      path: '/indexer/block/v1/blocks',
      operation: 'listBlocks',
      summary: 'Blocks by height',
      doc: 'Indexed blocks. `total` is their number; a height that was never indexed is not counted.',
      parameters: blockPageParameters,
      response: ref('block.BlocksResponse'),
      example: () => ({ blocks: [readExample('block')], pagination: examplePage }),
      problems: [400],
      owners: ['block'],
      handler: async (page, context) => {
        const { clients, call } = context;
        const pagination = pageRequest(page);
        const answer = await callRpc(clients.block.listBlocks.bind(clients.block), { pagination }, call);
        // Never settled: the total is always counted, and grows.
        const bodies = answer.blocks.map(blockJson);
        return pageContent('blocks', { bodies, large: undefined }, pagination, answer.pagination, context);
      },
    }),
    route({
      path: '/indexer/block/v1/blocks/{height}',
      operation: 'getBlock',
      summary: 'One block',
      doc: 'The block of a height.',
      parameters: { height: heightParameter },
      response: ref('block.BlockResponse'),
      example: () => ({ block: readExample('block') }),
      problems: [400, 404],
      owners: ['block'],
      handler: async ({ height }, { clients, call }) => {
        const unknown = () => notFound(`block ${height} is not indexed`);
        if (height > BigInt(Number.MAX_SAFE_INTEGER)) throw unknown();
        const request = { height: wireHeight(height) };
        const answer = await callRpc(clients.block.getBlock.bind(clients.block), request, call);
        if (answer.block === undefined) throw unknown();
        const body = objectOf('block', blockJson(answer.block));
        return { body, settled: Boolean(answer.block.proposer?.operator_address) };
      },
    }),
  ],
};
