import type { BlockMaterial, RawBlock } from '../gen/indexer/block/v1/block.js';
import type { OpenOptions } from '../reindex/tables.js';
import { callRpc } from '../rpc/client.js';
import { messageOf, UserError } from '../runtime/errors.js';
import { sleep } from '../runtime/lifecycle.js';
import { createProblemLog, type DecodeProblem, type ProblemLogOptions } from '../runtime/log.js';
import { createSlices } from '../util/concurrency.js';
import { readMaterial } from '../util/material.js';
import { onlyInUse, type WriterHealth } from '../writer/health.js';
import type { TableStore } from '../writer/table-writer.js';
import { type Consumer, type Cursor, consume } from './consume.js';
import type { TablesOptions } from './service.js';

/** How often the block service is asked what it follows, in milliseconds. */
const ask_ms = 250;

/** What every service that indexes is told of its chain. */
interface ChainConfig {
  readonly VM_TYPE: string;
  readonly CHAIN_ID: string;
}

/** What blocks are followed with. */
export interface FollowBlocksOptions<Decoded>
  extends Pick<TablesOptions<ChainConfig>, 'config' | 'blocks' | 'log' | 'metrics' | 'health'>,
    Pick<OpenOptions, 'isInUse' | 'signal'> {
  /** See `nameOf`. */
  readonly name: () => string;
  readonly store: Pick<TableStore<Cursor>, 'claim' | 'recover' | 'hashes' | 'unwind'> & {
    writeBlocks(blocks: readonly Decoded[]): Promise<void>;
  };
  /** What the service reads of a block; pure but for telling of what could not be read. */
  readonly decode: (block: RawBlock, material: BlockMaterial) => Decoded;
  /** Told what was written. */
  readonly onWritten?: (blocks: readonly Decoded[]) => void;
  /** What is done beside the blocks, once the tables are tied to the chain. */
  readonly beside?: (health: WriterHealth) => Promise<void>;
}

/** The name of a service in logs and metrics: another one while tables are rebuilt beside those in use. */
export const nameOf = (service: string, isInUse: () => boolean) => (): string =>
  isInUse() ? service : `${service}_rebuild`;

/** Blocks that can be followed. */
export interface BlockFollower {
  /** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
  ingest(): Promise<void>;
  /** What keeps the indexer from its work; '' once nothing does. */
  hindrance(): string;
}

/** Makes what writes the blocks of the block service into the tables of a service. */
export function createBlockFollower<Decoded>(options: FollowBlocksOptions<Decoded>): BlockFollower {
  const { isInUse, blocks, log, metrics, signal, beside = async () => {} } = options;
  const health = onlyInUse(options.health, isInUse);
  let hindrance = 'the block service has not answered yet';

  /** Ties the tables to the chain before anything else. @returns whether blocks can be followed. */
  const join = async (): Promise<boolean> => {
    try {
      await joinChain({ ...options, health }, (reason) => {
        hindrance = reason;
      });
    } catch (error) {
      if (signal.aborted) return false;
      // Another chain will not heal.
      log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`);
      hindrance = messageOf(error);
      return false;
    }
    if (signal.aborted) return false;
    hindrance = '';
    return true;
  };

  return {
    hindrance: () => hindrance,
    async ingest() {
      if (!(await join())) return;
      await Promise.all([
        consume(consumerOf(options), { blocks, signal, log, metrics, health }),
        beside(health),
      ]);
    },
  };
}

/**
 * Waits until the block service knows its chain, and ties a consumer's tables to it.
 *
 * @param onHindrance told what keeps the service from its work.
 * @throws UserError when it is another one than the configuration's or the tables'.
 */
async function joinChain<Decoded>(
  { config, blocks, store, log, health, signal }: FollowBlocksOptions<Decoded>,
  onHindrance: (reason: string) => void,
): Promise<void> {
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
      health.failed('tying the tables to the chain', error);
      onHindrance(`the block service or the database does not answer: ${messageOf(error)}`);
      if (attempt % 40 === 4) log.warn({ err: error }, `waiting for the block service: ${messageOf(error)}`);
    }
    await sleep(ask_ms, signal);
  }
}

function checkChain(config: ChainConfig, chain_id: string, vm_type: string): void {
  if (vm_type !== config.VM_TYPE)
    throw new UserError(`VM_TYPE is ${config.VM_TYPE}, but the block service follows a ${vm_type} rollup`);
  if (config.CHAIN_ID !== '' && config.CHAIN_ID !== chain_id)
    throw new UserError(`CHAIN_ID is ${config.CHAIN_ID}, but the block service follows ${chain_id}`);
}

/** A consumer that decodes every block by itself, and gives others their turn in between. */
function consumerOf<Decoded>(options: FollowBlocksOptions<Decoded>): Consumer<Decoded> {
  const { name, store, decode, onWritten, signal } = options;
  return {
    get name() {
      return name();
    },
    async recover() {
      const { height, hash } = await store.recover();
      return height === 0 ? undefined : { height, hash };
    },
    async prepare(blocks) {
      const decoded: Decoded[] = [];
      const slice = createSlices();
      for (const block of blocks) {
        signal.throwIfAborted();
        decoded.push(decode(block, await readMaterial(block)));
        await slice();
      }
      return decoded;
    },
    async write(blocks) {
      await store.writeBlocks(blocks);
      onWritten?.(blocks);
    },
    hashes: store.hashes,
    unwind: store.unwind,
  };
}

/** What a block says, and what of it could not be read. */
interface Decoded {
  readonly height: number;
  readonly problems: readonly DecodeProblem[];
}

type Decode<Block extends Decoded> = (block: RawBlock, material: BlockMaterial) => Block;

/** Makes what decodes blocks, and counts and logs what could not be read of them. */
export function decodeAndTell<Block extends Decoded>(
  decode: Decode<Block>,
  options: ProblemLogOptions,
): Decode<Block> {
  const report = createProblemLog(options);
  return (block, material) => {
    const decoded = decode(block, material);
    report(decoded.height, decoded.problems);
    return decoded;
  };
}
