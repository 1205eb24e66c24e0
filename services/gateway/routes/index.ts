import { createDocument } from '../openapi/document.js';
import type { About, Route, RouteGroup } from '../route.js';
import { blockGroup } from './block.js';
import { evmInternalTxsGroup } from './evm-internal-txs.js';
import { evmTxsGroup } from './evm-txs.js';
import { nftGroup } from './nft.js';
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
