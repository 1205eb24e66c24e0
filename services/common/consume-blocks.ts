import type { Consumer, Cursor } from './consume.js';
import { BlockMaterial, type RawBlock } from './gen/indexer/block/v1/block.js';
import { decompress } from './gzip.js';
import { createSlices } from './slices.js';

/** What blocks are written to. */
export interface BlockWriter<Decoded> {
  /** Removes what a crash has left above the last whole block, which it gives. */
  recover(): Promise<Cursor>;
  writeBlocks(blocks: readonly Decoded[]): Promise<unknown>;
  hashes(from: number, to: number): Promise<readonly Cursor[]>;
  unwind(height: number): Promise<void>;
}

export interface BlockConsumerOptions<Decoded> {
  /** The name in logs and metrics: another one while the tables are rebuilt beside those in use. */
  readonly name: () => string;
  readonly store: BlockWriter<Decoded>;
  /** What the service reads of a block; pure but for telling of what could not be read. */
  readonly decode: (block: RawBlock, material: BlockMaterial) => Decoded;
  /** Told what was written. */
  readonly onWritten?: (blocks: readonly Decoded[]) => void;
  readonly signal: AbortSignal;
}

/** A consumer that decodes every block by itself, and gives others their turn in between. */
export function createBlockConsumer<Decoded>(options: BlockConsumerOptions<Decoded>): Consumer<Decoded> {
  const { name, store, decode, signal } = options;
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
        decoded.push(decode(block, BlockMaterial.decode(await decompress(block.material))));
        await slice();
      }
      return decoded;
    },
    async write(blocks) {
      await store.writeBlocks(blocks);
      options.onWritten?.(blocks);
    },
    hashes: (from, to) => store.hashes(from, to),
    unwind: (height) => store.unwind(height),
  };
}
