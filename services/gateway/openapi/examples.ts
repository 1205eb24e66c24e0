import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../common/paths.js';

/** An object of a recorded rollup, to show in the document. */
export function readExample(
  name: 'block' | 'tx' | 'evm-tx' | 'evm-internal-tx' | 'nft-collection' | 'nft-token',
): unknown {
  const file = join(packageRoot, 'services/gateway/openapi/examples', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A pagination object of a first page that is not the last. */
export const examplePage = { next_key: 'AAAAAAAAACE', previous_key: '', total: '157' };
