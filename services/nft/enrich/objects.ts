import type { AccountKey } from '../../common/chain/address.js';
import { type Endpoints, retryDelay } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import { inParallel } from '../../common/util/concurrency.js';
import type { ObjectToken } from '../store/known.js';
import type { ResolveObjects } from '../store/memory.js';
import { tokenKey } from '../token-key.js';
import type { Earlier } from './earlier.js';
import { askNft } from './move.js';
import { createAskRest, questionsAtOnce } from './source.js';

/** How long a batch of blocks waits for the node to say which tokens objects are, in milliseconds. */
const patience_ms = 30_000;

/**
 * Asks the node which tokens objects are that were made before the first indexed block: no
 * event tells. Only for an index that does not begin with the chain. A node that does not
 * answer in time leaves them unknown, since one object must not stop the indexer.
 *
 * @param beginsLate whether the index begins after the chain's first block.
 * @param earlier while tables are rebuilt: what those in use know, asked before the node.
 */
export function resolveObjectsFrom(
  rest: Endpoints,
  log: Log,
  signal: AbortSignal,
  beginsLate: () => Promise<boolean>,
  earlier: () => Earlier | undefined = () => undefined,
): ResolveObjects {
  const ask = createAskRest(rest);
  return async (objects) => {
    if (!(await beginsLate())) return new Map();
    const found = new Map<AccountKey, ObjectToken>(await earlier()?.objects(objects));
    const end = Date.now() + patience_ms;
    let unanswered = 0;
    // Accounts have 20 bytes, objects 32.
    const asked = objects.filter((object) => object.length === 64 && !found.has(object));
    await inParallel(asked, questionsAtOnce, async (object) => {
      for (let attempt = 0; !signal.aborted; attempt++) {
        const outcome = await askNft(ask, object, 0, signal);
        if (outcome.is === 'answer') {
          const { collection, token_id } = outcome.value;
          found.set(object, { collection, id_key: tokenKey(token_id) });
        }
        if (outcome.is !== 'unreached') return;
        if (Date.now() > end) {
          unanswered += 1;
          return;
        }
        await sleep(retryDelay(attempt), signal);
      }
    });
    if (unanswered > 0) log.warn({ objects: unanswered }, 'the node does not say which tokens objects are');
    return found;
  };
}
