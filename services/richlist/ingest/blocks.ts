import type { BlockMaterial, RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { type DecodedBlock, decodeBlock } from '../decode/block.js';

/** Decodes blocks, and counts and logs what could not be read of them. */
export const decodeAndTell =
  (log: Log, metrics: Metrics) =>
  (block: RawBlock, material: BlockMaterial): DecodedBlock => {
    const decoded = decodeBlock(block, material);
    if (decoded.problems.length > 0) {
      metrics.problems.inc({ service: 'richlist', kind: 'log' }, decoded.problems.length);
      log.warn(
        { height: block.height, problems: decoded.problems.slice(0, 10), count: decoded.problems.length },
        'parts of a block could not be read',
      );
    }
    return decoded;
  };
