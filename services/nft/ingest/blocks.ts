import type { BlockMaterial, RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createProblemLog } from '../../common/problem-log.js';
import { decodeBlock } from '../decode/block.js';
import type { DecodeOptions, NftBlock } from '../decode/types.js';

/** Decodes blocks, and counts and logs what could not be read of them. */
export function decodeAndTell(
  options: DecodeOptions,
  log: Log,
  metrics: Metrics,
): (block: RawBlock, material: BlockMaterial) => NftBlock {
  const message = 'an event of an NFT could not be read';
  const report = createProblemLog({ service: 'nft', kind: 'decode', message, log, metrics });
  return (block, material) => {
    const decoded = decodeBlock(block, material, options);
    report(decoded.height, decoded.problems);
    return decoded;
  };
}
