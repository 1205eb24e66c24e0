import { consume } from '../../common/consume.js';
import { messageOf, UserError } from '../../common/errors.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { callRpc } from '../../common/rpc/client.js';
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
    await joinChain(options);
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

/** How often the block service is asked what it follows, in milliseconds. */
const ask_ms = 250;

/** Waits until the block service knows its chain. @throws UserError when it is another one. */
async function joinChain({ config, blocks, store, log, signal, onHindrance }: IngestOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const { chain_id, vm_type } = await callRpc(
        blocks.getStatus.bind(blocks),
        {},
        { deadline: Date.now() + 5_000, signal },
      );
      if (chain_id !== '') {
        checkChain(config, chain_id, vm_type);
        return await store.claim(chain_id, vm_type);
      }
      onHindrance('the block service does not know its chain yet');
    } catch (error) {
      if (error instanceof UserError || signal.aborted) throw error;
      onHindrance(`the block service or the database does not answer: ${messageOf(error)}`);
      if (attempt % 40 === 4) log.warn({ err: error }, `waiting for the block service: ${messageOf(error)}`);
    }
    await sleep(ask_ms, signal);
  }
}

function checkChain(config: IngestOptions['config'], chain_id: string, vm_type: string): void {
  if (vm_type !== config.VM_TYPE)
    throw new UserError(`VM_TYPE is ${config.VM_TYPE}, but the block service follows a ${vm_type} rollup`);
  if (config.CHAIN_ID !== '' && config.CHAIN_ID !== chain_id)
    throw new UserError(`CHAIN_ID is ${config.CHAIN_ID}, but the block service follows ${chain_id}`);
}
