import type { BlockMaterial, RawBlock } from './gen/indexer/block/v1/block.js';
import { createProblemLog, type DecodeProblem, type ProblemLogOptions } from './problem-log.js';

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
