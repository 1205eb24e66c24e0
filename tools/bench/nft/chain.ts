import type { NftBlock, NftEvent } from '../../../services/nft/decode/types.js';

/** Collections of the chain: one large, the others small. */
export const large = 'c0'.padEnd(40, '0');
const smallOnes = Array.from({ length: 2_000 }, (_, index) => `d${index}`.padEnd(40, '1'));

/** The account that owns half of the large collection, and the others. */
export const whale = 'a'.repeat(40);
const others = Array.from({ length: 500 }, (_, index) => `b${index}`.padEnd(40, '2'));

/** Tokens minted in one block. */
export const mintsPerBlock = 10_000;

const blockOf = (height: number, happenings: readonly object[]): NftBlock => ({
  height,
  hash: String(height).padStart(64, 'A'),
  parent_hash: height === 1 ? '' : String(height - 1).padStart(64, 'A'),
  timestamp: '2026-11-21T09:20:10.897399357Z',
  events: happenings.map((happening, index) => ({
    ...happening,
    tx: { hash: `${height}e${Math.floor(index / 100)}`.padEnd(64, '0'), signer: whale },
    index,
  })) as NftEvent[],
  problems: [],
});

/**
 * Blocks of ten thousand mints each: `tokens` of them in one collection, half of them for one
 * account; then a block with small collections, and one with a hundred transfers.
 */
export function* benchBlocks(tokens: number): Generator<NftBlock> {
  let height = 0;
  for (let first = 0; first < tokens; first += mintsPerBlock) {
    height += 1;
    yield blockOf(
      height,
      Array.from({ length: Math.min(mintsPerBlock, tokens - first) }, (_, n) => ({
        what: 'mint',
        token: { collection: large, token_id: String(first + n + 1) },
        owner: (first + n) % 2 === 0 ? whale : (others[n % others.length] as string),
      })),
    );
  }
  height += 1;
  yield blockOf(
    height,
    smallOnes.map((collection, n) => ({
      what: 'mint',
      token: { collection, token_id: '1' },
      owner: others[n % others.length] as string,
    })),
  );
  height += 1;
  yield blockOf(
    height,
    Array.from({ length: 100 }, (_, n) => ({
      what: 'transfer',
      token: { collection: large, token_id: String(2 * n + 1) },
      owner: others[n % others.length] as string,
    })),
  );
}
