import { createDocument } from '../openapi/document.js';
import { nftSchemas } from '../openapi/schemas.js';
import type { About, Route, RouteGroup } from '../route.js';
import { blockGroup } from './block.js';
import { evmInternalTxsGroup, evmTxsGroup } from './evm-txs.js';
import { nftCollectionRoutes } from './nft-collections.js';
import { nftTokenRoutes } from './nft-tokens.js';
import { nftTxRoutes } from './nft-txs.js';
import { richlistGroup } from './richlist.js';
import { createRootGroup } from './root.js';
import { createStatusGroup } from './status.js';
import { createSwaggerGroup } from './swagger.js';
import { txGroup } from './tx.js';

/** The groups of the document in its order; another one is one line here and one file. */
export const createGroups = (about: About): readonly RouteGroup[] => [
  createStatusGroup(about),
  createRootGroup(about),
  blockGroup,
  txGroup,
  evmTxsGroup,
  evmInternalTxsGroup,
  nftGroup,
  richlistGroup,
];

/** Every route, those of the documentation included. */
export function createRoutes(about: About): readonly Route[] {
  const groups = createGroups(about);
  const documentation = createSwaggerGroup(about, () => createDocument(groups, about));
  return [...groups, documentation].flatMap((group) => group.routes);
}

export const nftGroup: RouteGroup = {
  tag: 'NFT',
  doc: 'Collections and tokens.',
  schemas: nftSchemas,
  routes: [...nftCollectionRoutes, ...nftTokenRoutes, ...nftTxRoutes],
};
