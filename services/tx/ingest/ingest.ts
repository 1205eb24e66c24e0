import { consume } from '../../common/consume.js';
import { createBlockConsumer } from '../../common/consume-blocks.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { hasJoined } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { WriterHealth } from '../../common/writer-health.js';
import type { TxConfig } from '../config.js';
import type { DecodedBlock } from '../decode/types.js';
import type { Head } from '../read/head.js';
import type { TxStore } from '../store/store.js';
import { decodeAndTell } from './blocks.js';
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
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { config, name, blocks, store, head, log, metrics, health, signal } = options;
  const claim = (chain_id: string, vm_type: string) => store.claim(chain_id, vm_type);
  if (!(await hasJoined({ ...options, claim }))) return;
  const vm = config.VM_TYPE;
  const decode = decodeAndTell({
    ...{ name, log, metrics },
    decode: { vm, account_prefix: config.ACCOUNT_ADDRESS_PREFIX },
  });
  const onWritten = (written: readonly DecodedBlock[]): void =>
    metrics.txs.inc(
      { service: name() },
      written.reduce((sum, { txs }) => sum + txs.length, 0),
    );
  await Promise.all([
    consume(createBlockConsumer({ name, store, decode, onWritten, signal }), {
      blocks,
      signal,
      log,
      metrics,
      health,
    }),
    vm === 'evm' ? followTraces({ name, blocks, store, head, log, metrics, health, signal }) : undefined,
  ]);
}
