import { fetchStatus } from '../common/chain/comet.js';
import { retryDelay } from '../common/chain/endpoints.js';
import { messageOf, UserError } from '../common/errors.js';
import { sleep } from '../common/lifecycle.js';
import type { Log } from '../common/log.js';
import type { WriterHealth } from '../common/writer-health.js';
import type { BlockConfig } from './config.js';
import type { Node } from './fetch.js';
import type { BlockStore } from './store.js';

export interface JoinOptions {
  readonly config: Pick<BlockConfig, 'CHAIN_ID' | 'VM_TYPE'>;
  readonly node: Pick<Node, 'rpc'>;
  readonly store: Pick<BlockStore, 'chain' | 'claim'>;
  readonly log: Log;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/**
 * Ties the tables to the chain that is followed. Empty tables are tied to a chain only once
 * a node says that it is of it, so that a mistake in CHAIN_ID or in a URL leaves no trace.
 * A node that does not answer, or is of another chain than CHAIN_ID, is asked again and again.
 *
 * @returns the chain id; '' when the signal came first.
 * @throws UserError when the tables are of another chain.
 */
export async function joinChain(options: JoinOptions): Promise<string> {
  const { config, node, store, log, signal, onHindrance } = options;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const known = await store.chain();
      const chain_id =
        known === undefined
          ? (await fetchStatus(node.rpc, signal, config.CHAIN_ID)).network
          : config.CHAIN_ID || known.chain_id;
      await store.claim(chain_id, config.VM_TYPE);
      onHindrance('');
      return chain_id;
    } catch (error) {
      if (error instanceof UserError) throw error;
      if (signal.aborted) break;
      options.health.failed('tying the tables to the chain', error);
      onHindrance(`the chain is not known yet: ${messageOf(error)}`);
      if (attempt % 40 === 3)
        log.warn({ err: error }, `the chain is not known yet, the node is asked again: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
  return '';
}
