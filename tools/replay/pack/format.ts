import { createHash } from 'node:crypto';
import type { ChainSource } from '../types.js';

/*
 * A pack is a file with what a chain answers about each of its blocks, ready to be sent:
 *
 *   the parts of the first height, in the order of `partNames`, then those of the next ...
 *   offsets  a float64 for each part: where it begins; and one more: where the last ends
 *   meta     JSON, see PackMeta
 *   footer   two float64: where the offsets and where the meta begin
 *
 * Numbers are little-endian. Parts are the bytes between the envelope of an answer, so that
 * they fit a GET, a POST with any id, and a batch.
 */

/** The texts kept of a block: `result` of four methods, and the whole answer of the REST API's list of its txs. */
export const partNames = ['block', 'results', 'txs', 'receipts', 'traces'] as const;
export type PartName = (typeof partNames)[number];

/** Bytes of the footer. */
export const footerSize = 16;

/** What is said of the whole pack. */
export interface PackMeta {
  /** see `fingerprint` */
  readonly fingerprint: string;
  readonly first: number;
  readonly last: number;
  /** most txs that a block of it has */
  readonly most_txs: number;
  /** whether the chain has an EVM JSON-RPC */
  readonly evm: boolean;
}

/** Grows when the format changes, so that older packs are made again. */
const version = 1;

/** How many blocks a fingerprint looks at. */
const sampled = 16;

/**
 * What a pack of this chain must have been made from: its range, and blocks spread over it. Another length,
 * seed or generator gives another one.
 */
export function fingerprint(source: ChainSource): string {
  const hash = createHash('sha256');
  const { first, last, chainId, evm } = source;
  hash.update(JSON.stringify({ version, first, last, chainId, evm }));
  for (let i = 0; i < sampled; i++) {
    const height = first + Math.floor(((last - first) * i) / (sampled - 1));
    hash.update(JSON.stringify(source.bodies(height)));
  }
  return hash.digest('hex');
}
