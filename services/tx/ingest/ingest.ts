import { consume } from '../../common/consume.js';
import { messageOf } from '../../common/errors.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { joinChain } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { TxConfig } from '../config.js';
import type { Head } from '../read/head.js';
import type { TxStore } from '../store/store.js';
import { createBlockConsumer } from './blocks.js';
import { followTraces } from './traces.js';

export interface IngestOptions {
  readonly config: Pick<TxConfig, 'VM_TYPE' | 'CHAIN_ID' | 'ACCOUNT_ADDRESS_PREFIX'>;
  /** The name in logs and metrics. */
  readonly name: () => string;
  readonly blocks: BlockServiceClient;
  readonly store: TxStore;
  readonly head: Head;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { config, name, blocks, store, head, log, metrics, signal } = options;
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
  const decode = { vm: config.VM_TYPE, account_prefix: config.ACCOUNT_ADDRESS_PREFIX };
  await Promise.all([
    consume(createBlockConsumer({ name, store, decode, log, metrics, signal }), {
      blocks,
      signal,
      log,
      metrics,
    }),
    config.VM_TYPE === 'evm' ? followTraces({ name, blocks, store, head, log, metrics, signal }) : undefined,
  ]);
}
