import type { Consumer, Cursor } from '../../common/consume.js';
import { BlockMaterial, type RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import { decompress } from '../../common/gzip.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createSlices } from '../../common/slices.js';
import { decodeBlock } from '../decode/block.js';
import type { DecodeOptions, NftBlock } from '../decode/types.js';
import type { NftStore } from '../store/store.js';
import { createProblemLog } from './problems.js';

export interface BlockConsumerOptions {
  /** The name in logs and metrics: another one while the tables are rebuilt beside those in use. */
  readonly name: () => string;
  readonly store: NftStore;
  readonly decode: DecodeOptions;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** What the nft service does with blocks. */
export function createBlockConsumer(options: BlockConsumerOptions): Consumer<NftBlock> {
  const { name, store, signal } = options;
  const report = createProblemLog(options.log, options.metrics);
  return {
    get name() {
      return name();
    },
    async recover(): Promise<Cursor | undefined> {
      const cursor = await store.recover();
      return cursor.height === 0 ? undefined : cursor;
    },
    async prepare(blocks) {
      const decoded: NftBlock[] = [];
      const slice = createSlices();
      for (const block of blocks) {
        signal.throwIfAborted();
        const read = await decodeRaw(block, options.decode);
        report(read.height, read.problems);
        decoded.push(read);
        await slice();
      }
      return decoded;
    },
    write: (blocks) => store.writeBlocks(blocks),
    hashes: (from, to) => store.hashes(from, to),
    unwind: (height) => store.unwind(height),
  };
}

async function decodeRaw(block: RawBlock, options: DecodeOptions): Promise<NftBlock> {
  const material = BlockMaterial.decode(await decompress(block.material));
  return decodeBlock(block, material, options);
}
