import { BlockMaterial } from '../gen/indexer/block/v1/block.js';
import { withLittleGarbage } from '../runtime/heap.js';
import { createMutex, type Mutex } from './concurrency.js';
import { decompress, uncompressedLength } from './gzip.js';

/** Something that the node said of a block, compressed with gzip. */
export interface Material {
  readonly material: Uint8Array;
  /** Its bytes before it was compressed; 0 where that is not known. */
  readonly material_bytes: number;
}

/** The bytes of material before it was compressed, also where nobody has counted them. */
const uncompressedBytes = ({ material, material_bytes }: Material): number =>
  material_bytes > 0 ? material_bytes : uncompressedLength(material);

/**
 * What material counts as where much of it waits, in bytes: as much as it comes to when it is read, and what hardly
 * compresses twice as much as it takes. Events that repeat compress to a thousandth.
 */
export const weightOf = (material: Material): number =>
  Math.max(uncompressedBytes(material), 2 * material.material.length);

/** What was read of material that is still in memory, until garbage is collected. */
const readBefore = new WeakMap<Uint8Array, WeakRef<Promise<BlockMaterial>>>();

/**
 * Reads the material of a block. Services of the same process are given the same bytes, and the first of them reads it for all:
 * nobody may change it.
 */
export function readMaterial({ material }: Pick<Material, 'material'>): Promise<BlockMaterial> {
  const before = readBefore.get(material)?.deref();
  if (before !== undefined) return before;
  const read = decompress(material).then((bytes) => BlockMaterial.decode(bytes));
  readBefore.set(material, new WeakRef(read));
  return read;
}

/** Above this, uncompressed, a process holds the material of one block at a time, and what it makes of it. */
export const largeBytes = 8 * 1024 * 1024;

/** Memory is the process's, whichever of its services needs it. */
const exclusive = createMutex();

/** Runs something that holds something large, while nothing else in the process does. */
export const oneLarge: Mutex = (work, waiting) => exclusive(() => withLittleGarbage(work), waiting);
