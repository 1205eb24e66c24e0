/** How many places a block has; one with more events than that does not fit into a block. */
const placesOfBlock = 2 ** 21;

/** The place of an event in the chain: one number, so that rows compare and are removed by it. */
export function placeOf(height: number, index: number): number {
  return height * placesOfBlock + Math.min(index, placesOfBlock - 1);
}

/** The block of a place. */
export const heightOf = (at: number): number => Math.floor(at / placesOfBlock);

/** The last place of a block: nothing up to that height lies above it. */
export const endOf = (height: number): number => placeOf(height, placesOfBlock - 1);
