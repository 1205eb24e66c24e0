import type { Consumer, Cursor } from '../../common/consume.js';
import { BlockMaterial, type RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import { decompress } from '../../common/gzip.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createSlices } from '../../common/slices.js';
import { type DecodedBlock, decodeBlock } from '../decode/block.js';
import type { RichlistStore } from '../store/store.js';

export interface BlockConsumerOptions {
  /** The name in logs and metrics: another one while the tables are rebuilt beside those in use. */
  readonly name: () => string;
  readonly store: RichlistStore;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** What the richlist service does with blocks. */
export function createBlockConsumer(options: BlockConsumerOptions): Consumer<DecodedBlock> {
  const { name, store, signal } = options;
  return {
    get name() {
      return name();
    },
    async recover(): Promise<Cursor | undefined> {
      const { height, hash } = await store.recover();
      return height === 0 ? undefined : { height, hash };
    },
    async prepare(blocks) {
      const decoded: DecodedBlock[] = [];
      const slice = createSlices();
      for (const block of blocks) {
        signal.throwIfAborted();
        decoded.push(await decodeRaw(block, options));
        await slice();
      }
      return decoded;
    },
    write: (blocks) => store.writeBlocks(blocks),
    hashes: (from, to) => store.hashes(from, to),
    unwind: (height) => store.unwind(height),
  };
}

async function decodeRaw(block: RawBlock, { log, metrics }: BlockConsumerOptions): Promise<DecodedBlock> {
  const decoded = decodeBlock(block, BlockMaterial.decode(await decompress(block.material)));
  if (decoded.problems.length > 0) {
    metrics.problems.inc({ service: 'richlist', kind: 'log' }, decoded.problems.length);
    log.warn(
      { height: block.height, problems: decoded.problems.slice(0, 10), count: decoded.problems.length },
      'parts of a block could not be read',
    );
  }
  return decoded;
}
