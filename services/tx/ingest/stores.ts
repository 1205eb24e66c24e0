import type { AccountKey } from '../../common/chain/address.js';
import { type Endpoints, retryDelay } from '../../common/chain/endpoints.js';
import { fetchObjectOwner } from '../../common/chain/move.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { inParallel } from '../../common/util/concurrency.js';
import type { ResolveStores } from '../store/owners.js';

/** Stores that are asked for at once. */
const atOnce = 8;

/**
 * Asks the node who owns fungible stores that were created before the first indexed block:
 * no event tells. A node that does not answer is asked again until the signal.
 */
export function resolveStoresFrom(rest: Endpoints, signal: AbortSignal): ResolveStores {
  return async (stores) => {
    const owners = new Map<AccountKey, AccountKey>();
    const ask = async (store: AccountKey): Promise<void> => {
      const owner = await askUntilAnswered(rest, store, signal);
      if (owner !== undefined) owners.set(store, owner);
    };
    await inParallel(stores, atOnce, ask, () => signal.aborted);
    return owners;
  };
}

/**
 * Asks tables that are in use before the node, while others are rebuilt beside them: no raw
 * material tells the owner of a store that is older than the index, and the node may have
 * gone since it was asked.
 *
 * @param earlier undefined where nothing is rebuilt.
 */
export function askEarlierFirst(
  earlier: () => ResolveStores | undefined,
  node: ResolveStores = async () => new Map(),
): ResolveStores {
  return async (stores) => {
    const known = (await earlier()?.(stores)) ?? new Map<AccountKey, AccountKey>();
    const left = stores.filter((store) => !known.has(store));
    return left.length === 0 ? known : new Map([...known, ...(await node(left))]);
  };
}

async function askUntilAnswered(
  rest: Endpoints,
  store: AccountKey,
  signal: AbortSignal,
): Promise<AccountKey | undefined> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      return await fetchObjectOwner(rest, store, signal);
    } catch {
      // counted and logged where it was asked
      await sleep(retryDelay(attempt), signal);
    }
  }
  return undefined;
}
