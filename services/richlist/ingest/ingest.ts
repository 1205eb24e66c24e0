import type { Endpoints } from '../../common/chain/endpoints.js';
import type { Database } from '../../common/clickhouse/database.js';
import { consume } from '../../common/consume.js';
import { messageOf } from '../../common/errors.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { joinChain } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { RichlistConfig } from '../config.js';
import type { RichlistStore } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import { createBlockConsumer } from './blocks.js';
import type { NameTokens } from './names.js';
import { reconcile } from './reconcile.js';

export interface IngestOptions {
  readonly config: RichlistConfig;
  readonly blocks: BlockServiceClient;
  readonly store: RichlistStore;
  readonly database: Database;
  readonly tables: Tables;
  readonly jsonRpc: Endpoints;
  /** Asks for denoms with more patience than the blocks have. */
  readonly nameTokens: NameTokens;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { blocks, store, log, metrics, signal } = options;
  try {
    await joinChain({ ...options, claim: (chain_id, vm_type) => store.claim(chain_id, vm_type) });
  } catch (error) {
    if (signal.aborted) return;
    log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`);
    options.onHindrance(messageOf(error));
    return;
  }
  if (signal.aborted) return;
  options.onHindrance('');
  let headHeight = Number.POSITIVE_INFINITY;
  await Promise.all([
    consume(createBlockConsumer({ store, log, metrics, signal }), {
      blocks,
      signal,
      log,
      metrics,
      onProgress: (_, head) => {
        headHeight = head;
      },
    }),
    reconcile({ ...options, headHeight: () => headHeight }),
  ]);
}
