import type { HeightCheck, StateCheck } from '../check.js';
import { balances } from './balances.js';
import { blockList } from './block-list.js';
import { blocks } from './blocks.js';
import { internalTxs } from './internal-txs.js';
import { owners } from './owners.js';
import { receipts } from './receipts.js';
import { txs } from './txs.js';

/** What is compared at each height. */
export const heightChecks: readonly HeightCheck[] = [blocks, txs, receipts, internalTxs, blockList];

/** What is compared once. */
export const stateChecks: readonly StateCheck[] = [owners, balances];
