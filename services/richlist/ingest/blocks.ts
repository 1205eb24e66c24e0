import type { BlockMaterial, RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createProblemLog } from '../../common/problem-log.js';
import { type DecodedBlock, decodeBlock } from '../decode/block.js';

/** Decodes blocks, and counts and logs what could not be read of them. */
export function decodeAndTell(
  log: Log,
  metrics: Metrics,
): (block: RawBlock, material: BlockMaterial) => DecodedBlock {
  const message = 'a Transfer log or a part of a block could not be read';
  const report = createProblemLog({ service: 'richlist', kind: 'log', message, log, metrics });
  return (block, material) => {
    const decoded = decodeBlock(block, material);
    report(decoded.height, decoded.problems);
    return decoded;
  };
}
