import { nftSchemas } from '../openapi/nft-schemas.js';
import type { RouteGroup } from '../route.js';
import { nftCollectionRoutes } from './nft-collections.js';
import { nftTokenRoutes } from './nft-tokens.js';
import { nftTxRoutes } from './nft-txs.js';

export const nftGroup: RouteGroup = {
  tag: 'NFT',
  doc: 'Collections and tokens.',
  schemas: nftSchemas,
  routes: [...nftCollectionRoutes, ...nftTokenRoutes, ...nftTxRoutes],
};
