import type { Consumer, Cursor } from '../../common/consume.js';
import { BlockMaterial, type RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import { decompress } from '../../common/gzip.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createSlices } from '../../common/slices.js';
import { decodeBlock } from '../decode/block.js';
import type { DecodedBlock, DecodeOptions } from '../decode/types.js';
import type { TxStore } from '../store/store.js';

export interface BlockConsumerOptions {
  /** The name in logs and metrics: another one while the tables are rebuilt beside those in use. */
  readonly name: () => string;
  readonly store: TxStore;
  readonly decode: DecodeOptions;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** What the tx service does with blocks. */
export function createBlockConsumer(options: BlockConsumerOptions): Consumer<DecodedBlock> {
  const { name, store, metrics } = options;
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
        options.signal.throwIfAborted();
        decoded.push(await decodeRaw(block, options));
        await slice();
      }
      return decoded;
    },
    async write(blocks) {
      await store.writeBlocks(blocks);
      const txs = blocks.reduce((sum, block) => sum + block.txs.length, 0);
      metrics.txs.inc({ service: name() }, txs);
    },
    hashes: (from, to) => store.hashes(from, to),
    unwind: (height) => store.unwind(height),
  };
}

async function decodeRaw(
  block: RawBlock,
  { name, decode, log, metrics }: BlockConsumerOptions,
): Promise<DecodedBlock> {
  const material = BlockMaterial.decode(await decompress(block.material));
  const decoded = decodeBlock(block, material, decode);
  if (decoded.problems.length > 0) {
    metrics.problems.inc({ service: name(), kind: 'decode' }, decoded.problems.length);
    log.warn({ height: block.height, problems: decoded.problems }, 'parts of a block could not be read');
  }
  return decoded;
}
