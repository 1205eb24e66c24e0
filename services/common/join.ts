import { messageOf, UserError } from './errors.js';
import type { BlockServiceClient } from './gen/indexer/block/v1/block.js';
import { sleep } from './lifecycle.js';
import type { Log } from './log.js';
import { callRpc } from './rpc/client.js';
import type { WriterHealth } from './writer-health.js';

/** How often the block service is asked what it follows, in milliseconds. */
const ask_ms = 250;

export interface JoinOptions {
  readonly config: { readonly VM_TYPE: string; readonly CHAIN_ID: string };
  readonly blocks: BlockServiceClient;
  /** Ties the service's tables to the chain. @throws UserError when they hold another one. */
  readonly claim: (chain_id: string, vm_type: string) => Promise<void>;
  readonly log: Log;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the service from its work. */
  readonly onHindrance: (reason: string) => void;
}

/**
 * Ties a consumer's tables to the chain before anything else. What will not heal, another chain,
 * is logged and told as the hindrance.
 *
 * @returns whether blocks can be followed: not after the signal, and not where nothing will heal.
 */
export async function hasJoined(options: JoinOptions): Promise<boolean> {
  const { log, signal, onHindrance } = options;
  try {
    await joinChain(options);
  } catch (error) {
    if (signal.aborted) return false;
    log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`);
    onHindrance(messageOf(error));
    return false;
  }
  if (signal.aborted) return false;
  onHindrance('');
  return true;
}

/**
 * Waits until the block service knows its chain, and ties a consumer's tables to it.
 *
 * @throws UserError when it is another one than the configuration's or the tables'.
 */
async function joinChain(options: JoinOptions): Promise<void> {
  const { config, blocks, claim, log, signal, onHindrance } = options;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const { chain_id, vm_type } = await callRpc(
        blocks.getStatus.bind(blocks),
        {},
        { deadline: Date.now() + 5_000, signal },
      );
      if (chain_id !== '') {
        checkChain(config, chain_id, vm_type);
        return await claim(chain_id, vm_type);
      }
      onHindrance('the block service does not know its chain yet');
    } catch (error) {
      if (error instanceof UserError || signal.aborted) throw error;
      options.health.failed('tying the tables to the chain', error);
      onHindrance(`the block service or the database does not answer: ${messageOf(error)}`);
      if (attempt % 40 === 4) log.warn({ err: error }, `waiting for the block service: ${messageOf(error)}`);
    }
    await sleep(ask_ms, signal);
  }
}

function checkChain(config: JoinOptions['config'], chain_id: string, vm_type: string): void {
  if (vm_type !== config.VM_TYPE)
    throw new UserError(`VM_TYPE is ${config.VM_TYPE}, but the block service follows a ${vm_type} rollup`);
  if (config.CHAIN_ID !== '' && config.CHAIN_ID !== chain_id)
    throw new UserError(`CHAIN_ID is ${config.CHAIN_ID}, but the block service follows ${chain_id}`);
}
