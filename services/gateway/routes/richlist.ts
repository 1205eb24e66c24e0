import { callRpc } from '../../common/rpc/client.js';
import { ref } from '../openapi/schema.js';
import { richlistSchemas } from '../openapi/schemas.js';
import { pageParameters, pageRequest } from '../pagination.js';
import { pathTextParameter } from '../parameters.js';
import { type RouteGroup, route } from '../route.js';
import { movingContent } from './lists.js';

/** Which spellings name which denom is the service's to know. */
const denomParameter = pathTextParameter(
  'Denomination: as the chain spells it or in any case, `evm/` and hex, `ibc/...` and other denoms with slashes (percent-encoded or not), or the 0x address of an ERC-20.',
  'GAS',
);

const exampleHolders = [
  { account: '0x90f79bf6eb2c4f870365e785982e1f101e93b906', amount: '1000000999999998499980' },
  { account: '0x526e8c35f8b7d2ad4c2aa60f3f1498a16e81706d', amount: '1000000000000000000000' },
];

export const richlistGroup: RouteGroup = {
  tag: 'Rich list',
  doc: 'Who holds how much of a token (EVM rollups only).',
  schemas: richlistSchemas,
  routes: [
    route({
      path: '/indexer/richlist/v1/{denom}',
      takes_rest: true,
      operation: 'listTokenHolders',
      summary: 'Holders of a token',
      doc: 'Accounts with a balance above zero, largest first, equal ones by account, at `rich_list_height` of the status.',
      parameters: { denom: denomParameter, ...pageParameters },
      response: ref('richlist.TokenHoldersResponse'),
      example: () => ({
        holders: exampleHolders,
        pagination: { next_key: 'AAAAAAAAnMTAw.MHg', previous_key: '', total: '11' },
      }),
      problems: [400, 404, 501],
      owners: ['richlist'],
      only: { vm: 'evm', what: 'rich lists' },
      handler: async ({ denom, ...page }, { clients, call, about }) => {
        const request = { denom, pagination: pageRequest(page) };
        const { holders, pagination } = await callRpc(
          clients.richlist.listHolders.bind(clients.richlist),
          request,
          call,
        );
        return movingContent('holders', holders, request.pagination, pagination, about);
      },
    }),
  ],
};
