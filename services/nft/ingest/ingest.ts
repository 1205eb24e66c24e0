import { consume } from '../../common/consume.js';
import { messageOf } from '../../common/errors.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { joinChain } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { NftConfig } from '../config.js';
import { followDetails } from '../enrich/follow.js';
import type { DetailSource } from '../enrich/source.js';
import type { NftIndex } from '../index.js';
import type { NftStore } from '../store/store.js';
import { createBlockConsumer } from './blocks.js';

export interface IngestOptions {
  readonly config: Pick<NftConfig, 'VM_TYPE' | 'CHAIN_ID' | 'ACCOUNT_ADDRESS_PREFIX' | 'DETAIL_ATTEMPTS'>;
  readonly blocks: BlockServiceClient;
  readonly index: NftIndex;
  readonly store: NftStore;
  /** How the node is asked for details. */
  readonly source: DetailSource;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { config, blocks, index, store, log, metrics, signal } = options;
  const claim = (chain_id: string, vm_type: string) => store.claim(chain_id, vm_type);
  try {
    await joinChain({ config, blocks, claim, log, signal, onHindrance: options.onHindrance });
  } catch (error) {
    if (signal.aborted) return;
    log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`);
    options.onHindrance(messageOf(error));
    return;
  }
  if (signal.aborted) return;
  options.onHindrance('');
  const decode = { vm: config.VM_TYPE, account_prefix: config.ACCOUNT_ADDRESS_PREFIX };
  const { database, tables, head } = index;
  await Promise.all([
    consume(createBlockConsumer({ store, decode, log, metrics, signal }), { blocks, signal, log, metrics }),
    followDetails({
      ...{ database, tables, head, store, log, metrics, signal },
      source: options.source,
      attempts: config.DETAIL_ATTEMPTS,
      now: Date.now,
    }),
  ]);
}
