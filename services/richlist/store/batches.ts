import type { DecodedBlock } from '../decode/block.js';
import type { Position } from './cursor.js';

/** Changes and blocks that are written at once; the cursor rows must fit into one insert. */
const [changesAtOnce, blocksAtOnce] = [20_000, 1_000];

/** How many changes a block makes. */
export function countChanges({ deltas }: DecodedBlock): number {
  let count = 0;
  for (const accounts of deltas.values()) count += accounts.size;
  return count;
}

/** Cuts blocks into batches that are written one after the other, each with its cursor; a block is never cut. */
export function splitBlocks(blocks: readonly DecodedBlock[]): DecodedBlock[][] {
  const batches: DecodedBlock[][] = [];
  let [batch, changes]: [DecodedBlock[], number] = [[], 0];
  for (const block of blocks) {
    const count = countChanges(block);
    if (batch.length > 0 && (batch.length >= blocksAtOnce || changes + count > changesAtOnce)) {
      batches.push(batch);
      [batch, changes] = [[], 0];
    }
    batch.push(block);
    changes += count;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/** @throws Error unless the blocks are those right after a position, in order. */
export function checkFollows(position: Position, blocks: readonly DecodedBlock[]): void {
  let [height, hash] = [position.height, position.hash];
  for (const block of blocks) {
    const follows = height === 0 || (block.height === height + 1 && block.parent_hash === hash);
    if (!follows) throw new Error(`block ${block.height} does not follow block ${height}`);
    [height, hash] = [block.height, block.hash];
  }
}
