import type { BlockMaterial, RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { decodeBlock } from '../decode/block.js';
import type { DecodedBlock, DecodeOptions } from '../decode/types.js';

export interface DecodingOptions {
  /** The name in logs and metrics. */
  readonly name: () => string;
  readonly decode: DecodeOptions;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Decodes blocks, and counts and logs what could not be read of them. */
export const decodeAndTell =
  ({ name, decode, log, metrics }: DecodingOptions) =>
  (block: RawBlock, material: BlockMaterial): DecodedBlock => {
    const decoded = decodeBlock(block, material, decode);
    if (decoded.problems.length > 0) {
      metrics.problems.inc({ service: name(), kind: 'decode' }, decoded.problems.length);
      log.warn({ height: block.height, problems: decoded.problems }, 'parts of a block could not be read');
    }
    return decoded;
  };
